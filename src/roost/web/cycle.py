"""One request and its answer on a connection."""

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from typing_extensions import TypedDict
from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
    RequestResponseCycle,
)

from roost.web.reply import Header

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

_REMEMBERED = 1024


class Abort(TypedDict):
    """Ends a connection at once, whose client does not take what it was sent."""

    type: Literal["roost.abort"]


class Cycle(RequestResponseCycle):
    """Uvicorn's, which checks and puts together each header of each answer anew. Most lines of an
    answer's head are those of the answer before."""

    async def send(self, message: "ASGISendEvent | Abort") -> None:
        if message["type"] == "roost.abort":
            self.transport.abort()
            return
        if (
            message["type"] != "http.response.start"
            or self.response_started
            or self.disconnected
            or self.flow.write_paused
            or not self.keep_alive
        ):
            await super().send(message)
            return
        headers = [*self.default_headers, *message.get("headers", ())]
        given = dict(headers)
        length = given.get(b"content-length")
        if length is None or b"connection" in given or b"transfer-encoding" in given:
            await super().send(message)
            return
        self.response_started = True
        self.waiting_for_100_continue = False
        self.chunked_encoding = False
        self.expected_content_length = int(length)
        lines = b"".join(map(_line, headers))
        self.transport.write(STATUS_LINE[message["status"]] + lines + b"\r\n")


@lru_cache(_REMEMBERED)
def _line(header: Header) -> bytes:
    """Raises RuntimeError for what would end the line, and more that no header may have."""
    name, value = header
    if HEADER_RE.search(name) or HEADER_VALUE_RE.search(value):
        raise RuntimeError("Invalid HTTP header")
    return b"%b: %b\r\n" % (name.lower(), value)
