"""The rules of volumes as pure functions (spec A volumes)."""

import re

from roost.web.fields import refuse

MIN_SIZE, MAX_SIZE, DEFAULT_SIZE = 10, 10240, 20
"""GiB (reference: open-questions 21)."""

LABEL_PATTERN = r"[A-Za-z](?!.*(?:--|__))[A-Za-z0-9_-]*"

MOST_PERSISTENT = 8
"""Volumes of an instance that stay across boots, as a config has that many slots."""
_MOST = 64
_WIDE_MEMORY = 16
"""GB from which on an instance may have more than `MOST_PERSISTENT` volumes."""


def check_label(label: str) -> str:
    """Letters, digits, hyphens and underscores, none of the last two twice in a row."""
    if not re.match(r"[A-Za-z]", label):
        raise refuse("Must begin with a letter")
    if not re.fullmatch(r"[A-Za-z0-9_-]*", label):
        raise refuse("Must only use ASCII letters, numbers, underscores, and dashes")
    if "--" in label or "__" in label:
        raise refuse("Must not have two dashes or two underscores in a row")
    return label


def most_volumes(memory: int) -> int:
    """How many volumes an instance with `memory` MB may have: one for each GB, at least one."""
    gigabytes = max(1, memory // 1024)
    return min(gigabytes, _MOST if gigabytes >= _WIDE_MEMORY else MOST_PERSISTENT)


def check_room(memory: int, others: int, persistent_others: int, persists: bool) -> str | None:
    """Why an instance with `others` gets no more (spec A limits volumes per instance)."""
    most = most_volumes(memory)
    if others >= most:
        what = "1 volume" if most == 1 else f"{most} volumes"
        return f"Compute cannot have more than {what} with its memory."
    if persists and persistent_others >= MOST_PERSISTENT:
        return f"Compute cannot have more than {MOST_PERSISTENT} volumes that persist across boots."
    return None
