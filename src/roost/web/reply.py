"""An answer before it is sent."""

from dataclasses import dataclass

import orjson
from typing_extensions import TypedDict

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, body and headers; JSON unless it says otherwise."""

    status: int
    body: bytes
    headers: tuple[Header, ...] = ()
    content_type: bytes | None = None


class Warned(TypedDict):
    """Something about a success that its caller should know (reference: Warning)."""

    title: str
    """What it is, in a few words."""
    details: str
    """What it means, and what may be done."""


def accepted(reply: Reply, warning: Warned) -> Reply:
    """The answer 202 about what is not done yet: its record and a warning."""
    return Reply(202, orjson.dumps({**orjson.loads(reply.body), "warnings": [warning]}))
