"""Answers that go on: written while their client is there and takes them."""

import asyncio

import structlog
from starlette.types import Message, Receive, Send

from roost.web.exchange import Exchange, headers_of
from roost.web.reply import Header, Streamed

STUCK_SECONDS = 30.0
"""That a client may not take what it is sent; it can come back to where it was."""
_UNBUFFERED: Header = (b"x-accel-buffering", b"no")
"""Some proxies would keep small pieces back."""
_END: Message = {"type": "http.response.body", "body": b""}

_log = structlog.get_logger(__name__)


async def send_stream(
    exchange: Exchange, reply: Streamed, static: tuple[Header, ...], receive: Receive, send: Send
) -> None:
    """Send what is written, until its end or that of the connection."""
    headers = [*headers_of(exchange, reply, static), _UNBUFFERED]
    try:
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        if exchange.method == "HEAD":
            await send(_END)
        else:
            await _send_body(exchange, reply, receive, send)
    finally:
        await reply.close()


async def _send_body(exchange: Exchange, reply: Streamed, receive: Receive, send: Send) -> None:
    async def write(piece: bytes) -> None:
        async with asyncio.timeout(STUCK_SECONDS):
            await send({**_END, "body": piece, "more_body": True})

    writing = asyncio.ensure_future(reply.write(write))
    leaving = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        writing.cancel()
        _, fault = await asyncio.gather(leaving, writing, return_exceptions=True)
    if fault is None:
        await send(_END)
    elif isinstance(fault, Exception):
        _log.warning("stream_ended", request_id=exchange.request_id, error=repr(fault))
        await send({"type": "roost.abort"})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
