"""What a gateway works with, and what it does at the moment."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from roost.engines.gateway.faults import S3Error
from roost.engines.gateway.register import Bucket, Register
from roost.engines.gateway.room import Room
from roost.engines.gateway.upstream import Upstream


@dataclass(slots=True)
class Pending:
    """A bucket that an S3 client wants, and about which the control plane decides."""

    label: str
    key: str
    """The name of the key that asks for it."""
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    refusal: str | None = None


class Gateway:
    """The gateway of one region."""

    def __init__(
        self, register: Register, upstream: Upstream, domain: str | None, room: Room
    ) -> None:
        self.register = register
        self.upstream = upstream
        self.room = room
        self.domain = domain
        self.in_reach = False
        """Whether clients are served, or somebody lets them wait until they are."""
        self.sent = Counter[str]()
        """Bytes of answers since the start, by bucket."""
        self.pending: dict[str, Pending] = {}
        self.asked = asyncio.Condition()
        """Told of each `pending`."""
        self.trashed = asyncio.Event()
        self._writers = Counter[str]()
        self._closing = set[str]()
        self._idle = asyncio.Condition()
        self._waiting = 0
        """Who waits for that."""

    @asynccontextmanager
    async def writing(self, *buckets: Bucket) -> AsyncIterator[None]:
        """While something is put into buckets, which are not deleted meanwhile."""
        for bucket in buckets:
            self._check(bucket)
        places = [each.place for each in buckets]
        self._writers.update(places)
        try:
            yield
        finally:
            self._writers.subtract(places)
            if self._waiting:
                async with self._idle:
                    self._idle.notify_all()

    @contextmanager
    def closing(self, bucket: Bucket) -> Iterator[None]:
        """While it is being deleted, nothing is put into it."""
        self._closing.add(bucket.place)
        try:
            yield
        finally:
            self._closing.discard(bucket.place)

    async def until_idle(self, bucket: Bucket, seconds: float) -> bool:
        """Whether everything that was being put is over in time."""
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds), self._idle:
                await self._idle.wait_for(lambda: self._writers[bucket.place] <= 0)
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1
        self._writers.pop(bucket.place, None)
        return True

    def _check(self, bucket: Bucket) -> None:
        current = self.register.buckets.get(bucket.label)
        gone = current is None or current.place != bucket.place or current.closed
        if gone or bucket.place in self._closing:
            message = "The bucket is being deleted"
            raise S3Error(409, "OperationAborted", message)
