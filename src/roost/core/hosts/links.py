"""Sending what a host holds to another one: one connection, one parcel, and an answer.

A parcel is named in a line of JSON. Its content follows in pieces, each behind its length, and ends
with a piece of length 0; so what is cut off is never taken for whole. The answer is an empty line
when all of it is there for good, or else says why not.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Literal

import structlog
from pydantic import BaseModel, ValidationError

from roost.core.engine import EngineError
from roost.core.hosts.identity import Identity
from roost.errors import ShownError

PIECE = 1 << 20
"""Bytes of a piece at most."""
_LENGTH = 4
_LINE = 64 * 1024
_PATIENCE = 60.0
"""Seconds without a sign of the other side."""
_AT_ONCE = 8

_DOING = "It could not be brought to the other host"

_log = structlog.get_logger(__name__)


class Parcel(BaseModel):
    """What is sent: a guest with its backups, or a volume."""

    plane: Literal["instances", "volumes"]
    region: str
    id: int
    compute_id: int
    """The instance that it goes with."""
    backups: tuple[int, ...] = ()


Content = AsyncGenerator[bytes, None]
Take = Callable[[Parcel, Content], Awaitable[None]]
"""Keeps a parcel, for good when it returns. Raises EngineError."""


class Links:
    """The way to other hosts."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    async def send(self, address: str, parcel: Parcel, content: Content) -> None:
        """Returns when the other host keeps the parcel. Raises EngineError."""
        host, _, port = address.rpartition(":")
        try:
            async with asyncio.timeout(_PATIENCE):
                reader, writer = await asyncio.open_connection(
                    host.strip("[]"), int(port), ssl=self._identity.client, limit=_LINE
                )
        except (OSError, TimeoutError) as error:
            _log.warning("host_unreachable", address=address, reason=repr(error))
            raise EngineError(f"{_DOING}: that does not answer") from error
        try:
            answer = await _exchange(reader, writer, parcel, content)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            _log.warning("host_lost", address=address, reason=repr(error))
            raise EngineError(f"{_DOING}: the connection broke off") from error
        finally:
            writer.transport.abort()
        if answer:
            raise EngineError(answer)

    async def serve(self, listening: socket.socket, take: Take) -> None:
        """Take parcels until it is cancelled."""
        turns = asyncio.Semaphore(_AT_ONCE)

        async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            async with turns:
                await _receive(reader, writer, take)

        server = await asyncio.start_server(
            serve_one,
            sock=listening,
            ssl=self._identity.server,
            limit=_LINE,
            ssl_handshake_timeout=10,
        )
        async with server:
            await server.serve_forever()


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, parcel: Parcel, content: Content
) -> str:
    writer.write(parcel.model_dump_json().encode() + b"\n")
    async with aclosing(content):
        await _write(writer, content)
    writer.write(bytes(_LENGTH))
    await writer.drain()
    line = await reader.readline()
    if not line:
        raise asyncio.IncompleteReadError(b"", None)
    return line.decode(errors="replace").strip()


async def _write(writer: asyncio.StreamWriter, content: Content) -> None:
    async for piece in content:
        writer.write(len(piece).to_bytes(_LENGTH) + piece)
        async with asyncio.timeout(_PATIENCE):
            await writer.drain()


async def _receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, take: Take) -> None:
    answer = ""
    try:
        async with asyncio.timeout(_PATIENCE):
            parcel = Parcel.model_validate_json(await reader.readline())
        async with aclosing(_pieces(reader)) as pieces:
            await take(parcel, pieces)
    except ShownError as error:
        answer = str(error)
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
        what = "unreadable" if isinstance(error, ValidationError) else repr(error)
        _log.warning("parcel_broken_off", reason=what)
        answer = f"{_DOING}: the connection broke off"
    except Exception:
        _log.exception("parcel_not_taken")
        answer = f"{_DOING}: see the log of the host"
    try:
        writer.write(answer.replace("\n", " ").encode() + b"\n")
        await writer.drain()
    except (OSError, ssl.SSLError):
        _log.warning("parcel_unanswered")
    finally:
        writer.close()


async def _pieces(reader: asyncio.StreamReader) -> AsyncGenerator[bytes, None]:
    while True:
        async with asyncio.timeout(_PATIENCE):
            length = int.from_bytes(await reader.readexactly(_LENGTH))
            if length > PIECE:
                raise ValueError(f"a piece of {length} bytes")
            piece = await reader.readexactly(length)
        if not piece:
            return
        yield piece
