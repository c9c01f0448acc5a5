"""An answer before it is sent."""

from dataclasses import dataclass

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, body and headers; JSON unless it says otherwise."""

    status: int
    body: bytes
    headers: tuple[Header, ...] = ()
    content_type: bytes | None = None
