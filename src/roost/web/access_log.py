"""The access log: one JSON line per request, written in batches.

It never holds headers, queries or bodies, as these may carry secrets.
"""

import asyncio
from typing import BinaryIO, NotRequired

import orjson
from typing_extensions import TypedDict

FLUSH_SECONDS = 0.2


class AccessLine(TypedDict):
    time: str
    request_id: str
    method: str
    path: str
    operation: str | None
    status: int
    duration_ms: float
    bytes: int
    client: str
    user: str | None
    token_id: int | None
    trace_id: NotRequired[str]


class AccessLog:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lines: list[AccessLine] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, line: AccessLine) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)
        self._lines.append(line)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lines, self._lines = self._lines, []
        if lines:
            self._stream.write(b"".join(orjson.dumps(line) + b"\n" for line in lines))
            self._stream.flush()
