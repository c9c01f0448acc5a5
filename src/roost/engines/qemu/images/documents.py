"""JSON that YAML parsers read as the same values."""

import json
import re
from collections.abc import Mapping, Sequence

Value = str | int | bool | Sequence["Value"] | Mapping[str, "Value"]

_NOT_PLAIN = re.compile(r"[^\x20-\x7e]")


def document(value: Mapping[str, Value]) -> bytes:
    """ASCII only. YAML knows no surrogate pairs, so other characters are written as `\\Uxxxxxxxx`.

    They occur within strings only, where JSON has escaped the control characters already.
    """
    text = json.dumps(value, ensure_ascii=False)
    return _NOT_PLAIN.sub(lambda match: f"\\U{ord(match[0]):08x}", text).encode() + b"\n"
