"""Request bodies that the documentation shows; the default catalogue accepts them."""

from pydantic import JsonValue

_KEY = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtQ0Qb0bB1m0p6v3dQnJmGQ7oZl0o4sJZt5q3m9x1aB "
    "me@example.com"
)

CREATE: list[JsonValue] = [
    {
        "type": "g1-nano-1",
        "region": "us-lake",
        "image": "roost/debian12",
        "root_pass": "correct-Horse7battery",
        "label": "web-1",
    },
    {
        "type": "g1-standard-2",
        "region": "us-lake",
        "image": "roost/debian12",
        "root_pass": "correct-Horse7battery",
        "authorized_keys": [_KEY],
        "interfaces": [
            {"purpose": "public", "primary": True},
            {"purpose": "vlan", "label": "back-end", "ipam_address": "10.0.0.1/24"},
        ],
        "metadata": {"user_data": "I2Nsb3VkLWNvbmZpZwpwYWNrYWdlczogW25naW54XQo="},
        "private_ip": True,
        "swap_size": 1024,
        "tags": ["production", "web"],
    },
    {"type": "g1-micro-1", "region": "us-lake"},
]

UPDATE: list[JsonValue] = [
    {"label": "web-2", "tags": ["production"]},
    {"alerts": {"cpu": 180, "io": 0}, "watchdog_enabled": False},
]

BOOT: list[JsonValue] = [{}]
