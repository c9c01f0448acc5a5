"""The heads of answers are those that uvicorn writes."""

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

import pytest
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from roost.web.cycle import Cycle
from roost.web.reply import Header

if TYPE_CHECKING:
    from uvicorn._types import HTTPScope

_LENGTH = (b"content-length", b"2")


class Transport:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.written = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True


async def answered(
    kind: type[RequestResponseCycle], *headers: Header, method: str = "GET", keep_alive: bool = True
) -> tuple[bytes, bool]:
    """What a connection has got then, and whether it is closed."""
    transport = Transport()
    logger = logging.getLogger("test")
    cycle = kind(
        scope=cast("HTTPScope", {"type": "http", "method": method}),
        transport=cast(asyncio.Transport, transport),
        flow=FlowControl(cast(asyncio.Transport, transport)),
        logger=logger,
        access_logger=logger,
        access_log=False,
        default_headers=[(b"date", b"today")],
        message_event=asyncio.Event(),
        expect_100_continue=False,
        keep_alive=keep_alive,
        on_response=lambda: None,
    )
    start: Any = {"type": "http.response.start", "status": 200, "headers": headers}
    await cycle.send(start)
    await cycle.send({"type": "http.response.body", "body": b"{}", "more_body": False})
    return transport.written, transport.closed


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("keep_alive", [True, False])
@pytest.mark.parametrize(
    "headers",
    [
        (_LENGTH, (b"X-Request-Id", b"1")),
        ((b"vary", b"accept"), (b"vary", b"origin"), _LENGTH),
        (_LENGTH, (b"connection", b"close")),
        ((b"transfer-encoding", b"chunked"),),
        (),
    ],
)
async def test_an_answer_is_as_uvicorn_writes_it(
    headers: tuple[Header, ...], keep_alive: bool, method: str
) -> None:
    theirs = await answered(RequestResponseCycle, *headers, method=method, keep_alive=keep_alive)
    for _ in range(2):  # The second time by lines that are remembered.
        assert await answered(Cycle, *headers, method=method, keep_alive=keep_alive) == theirs


@pytest.mark.parametrize(
    "header", [(b"location", b"/a\r\nset-cookie: a=b"), (b"a b", b"c"), (b"etag", b"\0")]
)
async def test_no_header_ends_its_line(header: Header) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match="Invalid HTTP header"):
            await answered(Cycle, _LENGTH, header)
