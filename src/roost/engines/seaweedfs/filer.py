"""What is asked of the filer itself, by gRPC (`weed/pb/filer.proto` numbers the fields)."""

import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

from roost.engines.seaweedfs.calls import connected
from roost.engines.seaweedfs.wire import field, fields, first, integer
from roost.resources.object_storage.engine import MadeBucket

_SERVICE = "/filer_pb.SeaweedFiler/"
_BUCKETS = "/buckets"
_OWNER = b"s3-identity-id"
"""Where a bucket says whose it is."""
_PURGE_SECONDS = 600.0


async def purge(address: str, bucket: str) -> None:
    """Delete a bucket with all that it holds."""
    deletion = field(1, _BUCKETS) + field(2, bucket) + integer(5, 1) + integer(6, 1)
    doing = "The object storage does not delete the bucket"
    async with connected(address) as calls:
        await calls.ask(doing, f"{_SERVICE}DeleteEntry", deletion, _PURGE_SECONDS)
        await calls.ask(doing, f"{_SERVICE}DeleteCollection", field(1, bucket), _PURGE_SECONDS)


async def made(address: str) -> AsyncGenerator[MadeBucket, None]:
    """Buckets from now on, with whoever makes them, until the filer ends."""
    # No path begins with the prefix: what is in the folder of buckets alone is told.
    wanted = field(1, "roost") + field(2, "/roost/none") + integer(3, time.time_ns())
    wanted += integer(7, time.time_ns() & 0x7FFFFFFF) + integer(9, 1) + field(10, _BUCKETS)
    doing = "The object storage tells no more of new buckets"
    async with connected(address) as calls:
        answers = calls.listen(doing, f"{_SERVICE}SubscribeMetadata", wanted)
        async with aclosing(answers) as messages:
            async for message in messages:
                for each in read_made(message):
                    yield each


def read_made(message: bytes) -> Iterator[MadeBucket]:
    """Of an answer of the subscription, which also tells of other changes. Raises ValueError."""
    parts = list(fields(message))
    for number, value in parts:
        if number == 4:
            yield from read_made(value)
    event = first(message, 2)
    if event is None or (1, _BUCKETS.encode()) not in parts:
        return
    entry = first(event, 2)
    if entry is None or first(event, 1) is not None:
        return
    name, owner = first(entry, 1), _owner(entry)
    if name is not None and owner is not None:
        yield MadeBucket(name.decode(), owner.decode())


def _owner(entry: bytes) -> bytes | None:
    extended = (value for number, value in fields(entry) if number == 5)
    return next((first(each, 2) for each in extended if first(each, 1) == _OWNER), None)
