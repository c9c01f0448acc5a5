"""Tables for people: what users wrote cannot command their terminals."""

import re
from collections.abc import Iterable, Sequence

_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escape(text: str) -> str:
    """Control characters, and those that turn the direction of writing, as escapes."""
    plain = text.replace("\r\n", "\n")
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], plain)


def line(text: str) -> str:
    """A text on one line, escaped."""
    return " ".join(escape(text).split())


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as their longest text, two spaces apart; each row is one line."""
    lines = [head, *([line(text) for text in row] for row in rows)]
    widths = [max(len(text) for text in column) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in lines
    )
