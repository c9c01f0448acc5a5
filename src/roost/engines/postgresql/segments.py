"""Names of what PostgreSQL's log of writes consists of: segments of 16 MB, by timeline."""

import re

_NAME = re.compile(r"[0-9A-F]{24}")
_HISTORY = re.compile(r"[0-9A-F]{8}\.history")
_IN_ONE = 0x100
"""Segments that share the middle of their names."""
_SIZE = 16 * 1024 * 1024
"""Bytes."""


def is_segment(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def is_history(name: str) -> bool:
    """Whether it says from where a timeline goes on."""
    return _HISTORY.fullmatch(name) is not None


def timeline_of(name: str) -> str:
    return name[:8]


def number_of(name: str) -> int:
    """Segments of a timeline have numbers one after the other."""
    return int(name[8:16], 16) * _IN_ONE + int(name[16:], 16)


def name_of(timeline: str, number: int) -> str:
    return f"{timeline}{number // _IN_ONE:08X}{number % _IN_ONE:08X}"


def left_in(history: str) -> list[tuple[str, int]]:
    """The timelines that a history has gone through, and in which segment it left each of them."""
    lines = [line.split() for line in history.splitlines() if line[:1].isdigit()]
    return [(f"{int(line[0]):08X}", position_of(line[1]) // _SIZE) for line in lines]


def first_of(timeline: str, history: str) -> str:
    """The first segment of a timeline, whose history says where it left the one before."""
    return name_of(timeline, left_in(history)[-1][1])


def position_of(text: str) -> int:
    """Bytes, of what PostgreSQL writes as `16/B374D848`."""
    high, low = (int(part, 16) for part in text.split("/"))
    return (high << 32) + low
