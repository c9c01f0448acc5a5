"""Request bodies that the documentation shows; the default catalogue accepts them."""

from pydantic import JsonValue

REBUILD: list[JsonValue] = [
    {"image": "roost/debian12", "root_pass": "correct-Horse7battery"},
    {"image": "roost/debian12", "root_pass": "correct-Horse7battery", "booted": False},
]

RESCUE: list[JsonValue] = [{}]

RESIZE: list[JsonValue] = [
    {"type": "g1-standard-2"},
    {"type": "g1-standard-1", "allow_auto_disk_resize": False},
]

MUTATE: list[JsonValue] = [{}]

CLONE: list[JsonValue] = [
    {"region": "us-lake", "type": "g1-standard-1", "label": "web-copy"},
]

PASSWORD: list[JsonValue] = [{"root_pass": "correct-Horse7battery"}]
