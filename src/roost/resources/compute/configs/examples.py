"""Request bodies that the documentation shows."""

from pydantic import JsonValue

CREATE: list[JsonValue] = [
    {"label": "empty", "devices": {}},
    {
        "label": "single user",
        "devices": {"sda": None},
        "kernel": "roost/grub2",
        "run_level": "single",
        "comments": "For repairs",
        "helpers": {"network": False},
        "interfaces": [{"purpose": "public", "primary": True}],
    },
]

UPDATE: list[JsonValue] = [{"label": "main", "memory_limit": 512}]

ADD_INTERFACE: list[JsonValue] = [
    {"purpose": "vlan", "label": "back-end", "ipam_address": "10.0.0.1/24"}
]

UPDATE_INTERFACE: list[JsonValue] = [{"primary": True}]

ORDER: list[JsonValue] = [{"ids": [100002, 100001]}]
