"""Bodies that go from one socket to another within the kernel, and never come into this process.

A body of which nothing is read or hashed is copied four times else, and wakes the interpreter for
each piece.
"""

import fcntl
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

LEAST = 1 << 20
"""Bytes of a body from which on it is worth its pipe."""
_PIPE = 1 << 20
"""Bytes, where the host lets a user have as many."""
_FLAGS = os.SPLICE_F_MOVE | os.SPLICE_F_NONBLOCK


class End(Protocol):
    """A connection that is not read and not written to meanwhile by anybody else."""

    def doubled(self) -> int:
        """Its socket by another number, to be closed: the loop keeps the first for itself. Raises
        ConnectionError."""
        ...

    async def ready(self, number: int, left: int) -> None:
        """Returns when more can be read, or written, of so many bytes. Raises ConnectionError."""
        ...


async def spliced(source: End, sink: End, size: int) -> AsyncGenerator[int, None]:
    """Move so many bytes; tells of each part that is on its way. Raises ConnectionError."""
    with _pipe() as (out, into), _socket(source) as reads, _socket(sink) as writes:
        while size:
            taken = _moved(reads, into, size)
            if taken is None:
                await source.ready(reads, size)
                continue
            if not taken:
                raise ConnectionError("the server behind has ended in the middle of an answer")
            size -= taken
            while taken:
                given = _moved(out, writes, taken)
                if given is None:
                    await sink.ready(writes, taken)
                    continue
                taken -= given
                yield given


def _moved(source: int, sink: int, most: int) -> int | None:
    """Bytes; None where one of them has to be waited for."""
    try:
        return os.splice(source, sink, min(most, _PIPE), flags=_FLAGS)
    except BlockingIOError:
        return None


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    """Its two ends, of which the first is read."""
    out, into = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, _PIPE)
        yield out, into
    finally:
        os.close(out)
        os.close(into)


@contextmanager
def _socket(end: End) -> Iterator[int]:
    number = end.doubled()
    try:
        yield number
    finally:
        os.close(number)
