"""Request bodies that the documentation shows."""

from pydantic import JsonValue

CREATE: list[JsonValue] = [
    {"label": "data", "size": 1024},
    {"label": "more swap", "size": 512, "filesystem": "swap"},
]

UPDATE: list[JsonValue] = [{"label": "data-2"}]

RESIZE: list[JsonValue] = [{"size": 2048}]

PASSWORD: list[JsonValue] = [{"password": "correct-Horse7battery"}]
