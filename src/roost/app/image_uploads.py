"""Where the data of images are sent: a URL for each upload, which needs no token.

It is beside the API, whose bound on bodies is for JSON: here bytes go to disk as they come,
unpacked and checked in threads of their own, and the client is held back while they are not done.
"""

import asyncio
import errno
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from roost.clock import Clock
from roost.core.spool import SparseFile, Spool, SpoolBusyError
from roost.errors import ApiError, Problem, invalid, not_found
from roost.jobs.queue import JobQueue
from roost.resources.images import upload_service as service
from roost.resources.images.upload_queries import Pending
from roost.resources.images.upload_rules import MAX_COMPRESSED, RefusedError, Unpacker
from roost.shares import on_behalf_of
from roost.store import Store
from roost.threads import UPLOADS

_FROM_PAGES = Middleware(
    CORSMiddleware, allow_origins=["*"], allow_methods=["PUT"], allow_headers=["*"]
)
"""Web pages send data too: the URL is all that one needs."""
EMPTY = "The body is empty: send the data of the image"
MOST = 16
"""Uploads at once that a process takes."""
MOST_EACH = 2
"""Of one account."""
_IDLE_SECONDS = 60
_BATCH = 1024 * 1024
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class ImageUploads:
    """Receives them in this process."""

    store: Store
    queue: JobQueue
    clock: Clock
    spool: Spool
    most: int
    """Bytes of a disk."""
    _running: Counter[int] = field(default_factory=Counter)

    def route(self) -> Route:
        path = service.PATH + "{secret}"
        return Route(path, self.answer, methods=["PUT", "OPTIONS"], middleware=[_FROM_PAGES])

    async def answer(self, request: Request) -> Response:
        if request.method == "OPTIONS":  # Not from a page, which the middleware answers.
            return JSONResponse({}, headers={"Allow": "OPTIONS, PUT"})
        _check_head(request)
        secret = request.path_params["secret"]
        pending = await service.begin(self.store, self.clock, secret)
        if pending is None:
            raise not_found()
        with self._place(pending.account_id), on_behalf_of(pending.account_id):
            await self._receive(request, pending)
        return JSONResponse({})

    @contextmanager
    def _place(self, account_id: int) -> Iterator[None]:
        full = self._running.total() >= MOST or self._running[account_id] >= MOST_EACH
        if full:
            raise ApiError(429, [Problem("Too many uploads at once")], [(b"retry-after", b"60")])
        self._running[account_id] += 1
        try:
            yield
        finally:
            self._running[account_id] -= 1
            if not self._running[account_id]:
                del self._running[account_id]

    async def _receive(self, request: Request, pending: Pending) -> None:
        try:
            file = await UPLOADS.finish(self.spool.open, pending.number)
        except SpoolBusyError:
            raise ApiError(409, [Problem("The data are being sent already")]) from None
        try:
            await self._store(request, file)
        except RefusedError as error:
            await service.end(self.store, self.queue, pending, str(error))
            raise invalid(str(error)) from None
        else:
            if not await service.end(self.store, self.queue, pending, None):
                raise not_found()
        finally:
            await UPLOADS.finish(file.discard)

    async def _store(self, request: Request, file: SparseFile) -> None:
        """RefusedError is for data that end the upload; after all else, and when nothing came at
        all, they may be sent anew."""
        unpacker, empty = Unpacker(self.most), True
        try:
            async with asyncio.timeout(service.SECONDS):
                async for batch in _batches(request):
                    empty = False
                    await UPLOADS.finish(service.take, file, unpacker, batch)
            if empty:
                raise invalid(EMPTY)
            await UPLOADS.finish(service.finish, file, unpacker)
        except (TimeoutError, ClientDisconnect):
            raise ApiError(408, [Problem("Request Timeout")]) from None
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise ApiError(
                507, [Problem("There is no room for the data; try again later")]
            ) from None


def _check_head(request: Request) -> None:
    declared = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if declared != "application/octet-stream":
        raise ApiError(415, [Problem("Content-Type must be application/octet-stream")])
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > MAX_COMPRESSED:
        raise ApiError(413, [Problem(f"The body must not be larger than {MAX_COMPRESSED} bytes")])


async def _batches(request: Request) -> AsyncIterator[bytes]:
    """What comes, in pieces worth a thread's while; TimeoutError when nothing does."""
    stream = request.stream()
    batch = bytearray()
    while True:
        async with asyncio.timeout(_IDLE_SECONDS):
            chunk = await anext(stream, None)
        if chunk is None:
            break
        batch += chunk
        if len(batch) >= _BATCH:
            yield bytes(batch)
            batch.clear()
    if batch:
        yield bytes(batch)
