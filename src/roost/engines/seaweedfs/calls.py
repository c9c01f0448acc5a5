"""Calls of the gRPC services of a filer.

In Python alone, by the event loop: a library with threads and handlers of fork(2) of its own (as
grpcio is) kills some of the programs that this process starts while a call is under way.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager

from grpclib.client import Channel
from grpclib.const import Cardinality, Status
from grpclib.encoding.base import CodecBase
from grpclib.exceptions import GRPCError, StreamTerminatedError

from roost.core.engine import EngineError

__all__ = ["CallError", "Calls", "Status", "connected"]

_FAULTS = (GRPCError, StreamTerminatedError, OSError)


class CallError(EngineError):
    """A call failed: with the status of the answer, or None when there was no answer."""

    def __init__(self, words: str, status: Status | None, detail: str = "") -> None:
        super().__init__(words)
        self.status = status
        self.detail = detail


class _Bytes(CodecBase):
    """Messages are written and read by `wire`."""

    @property
    def __content_subtype__(self) -> str:
        return "proto"

    def encode(self, message: bytes, message_type: type[bytes]) -> bytes:
        return message

    def decode(self, data: bytes, message_type: type[bytes]) -> bytes:
        return data


class Calls:
    """Each is a task of its own: what the library cancels when a connection ends or the time is
    over is then not the caller, who would count as cancelled ever after."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def ask(
        self,
        doing: str,
        method: str,
        message: bytes,
        seconds: float,
        metadata: Mapping[str, str] | None = None,
    ) -> bytes:
        """The one answer. Raises CallError, which says `doing`."""
        return await asyncio.create_task(self._ask(doing, method, message, seconds, metadata))

    async def _ask(
        self,
        doing: str,
        method: str,
        message: bytes,
        seconds: float,
        metadata: Mapping[str, str] | None,
    ) -> bytes:
        request = self._channel.request(
            method, Cardinality.UNARY_UNARY, bytes, bytes, timeout=seconds, metadata=metadata
        )
        try:
            async with request as stream:
                await stream.send_message(message, end=True)
                answer = await stream.recv_message()
        except _FAULTS as error:
            raise _fault(doing, error) from error
        return answer or b""

    async def listen(self, doing: str, method: str, message: bytes) -> AsyncGenerator[bytes, None]:
        """Answers until the server ends them. Raises CallError, which says `doing`."""
        request = self._channel.request(method, Cardinality.UNARY_STREAM, bytes, bytes)
        try:
            async with request as stream:
                await asyncio.create_task(stream.send_message(message, end=True))
                while (answer := await asyncio.create_task(stream.recv_message())) is not None:
                    yield answer
                await asyncio.create_task(stream.recv_trailing_metadata())
        except _FAULTS as error:
            raise _fault(doing, error) from error


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Calls]:
    """To the host and port of a filer's gRPC; the connection is made by the first call."""
    host, _, port = address.rpartition(":")
    async with Channel(host.strip("[]"), int(port), codec=_Bytes()) as channel:
        yield Calls(channel)


def _fault(doing: str, error: Exception) -> CallError:
    if isinstance(error, GRPCError):
        return CallError(doing, error.status, error.message or "")
    return CallError(doing, None)
