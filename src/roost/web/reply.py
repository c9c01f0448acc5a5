"""An answer before it is sent."""

from collections.abc import Awaitable, Callable
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


Write = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed(Reply):
    """An answer whose body is written piece by piece, while there is somebody who reads."""

    write: Callable[[Write], Awaitable[None]]
    """Writes the body, to its end."""
    close: Callable[[], Awaitable[None]]
    """Is called once, whether or not anything was written."""


class Warned(TypedDict):
    """Something about a success that its caller should know (reference: Warning)."""

    title: str
    """What it is, in a few words."""
    details: str
    """What it means, and what may be done."""


def accepted(reply: Reply, warning: Warned) -> Reply:
    """The answer 202 about what is not done yet: its record and a warning."""
    return Reply(202, orjson.dumps({**orjson.loads(reply.body), "warnings": [warning]}))
