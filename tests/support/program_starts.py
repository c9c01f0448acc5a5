"""A process that starts programs while its buckets are busy; see `test_started_programs`."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import uvloop

from roost.engines.attachments.bucket import AttachmentBucket
from roost.engines.qemu.host.programs import run
from roost.engines.seaweedfs.cluster import Cluster
from roost.engines.seaweedfs.objects import SeaweedObjects
from roost.engines.seaweedfs.server import ROOT
from roost.resources.object_storage.engine import BucketSpec, KeySpec
from tests.support.seaweed import small_cluster

_PROGRAMS = 2000
_AT_ONCE = 4
_CALLERS = 1
_CONTENT = b"x" * 30_000


def main() -> None:
    """On the loop of the server."""
    sys.stdout.write(json.dumps(uvloop.run(_start_programs(Path(sys.argv[1])))))


async def _start_programs(folder: Path) -> dict[str, bool]:
    """What else went on meanwhile, and still did at the end."""
    async with small_cluster(folder) as entry:
        engine = SeaweedObjects(Cluster(entry))
        await engine.put_bucket(BucketSpec("busy", "1-20300131", "private", False))
        store = AttachmentBucket("busy", entry.url, "us-east-1", ROOT, entry.secret_key)
        calls, transfers = Rounds(), Rounds()
        async with (
            _repeated(*(calls.of(_use_key(engine, number)) for number in range(_CALLERS))),
            _repeated(*(transfers.of(_transfer(store, number)) for number in range(_CALLERS))),
            _listening(engine),
        ):
            await calls.more()
            await transfers.more()
            done = await asyncio.gather(*(_programs() for _ in range(_AT_ONCE)))
            assert sum(done) == _PROGRAMS
            return {"grpc": await calls.more(), "transfers": await transfers.more()}


async def _programs() -> int:
    count = _PROGRAMS // _AT_ONCE
    for _ in range(count):
        assert await run("The program could not be run", "echo", "here") == "here\n"
    return count


class Rounds:
    """Counts work that is repeated."""

    def __init__(self) -> None:
        self._round = asyncio.Condition()

    def of(self, work: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        async def counted() -> None:
            await work()
            async with self._round:
                self._round.notify_all()

        return counted

    async def more(self) -> bool:
        """Whether another round ends."""
        async with asyncio.timeout(30), self._round:
            return await self._round.wait()


def _use_key(engine: SeaweedObjects, number: int) -> Callable[[], Awaitable[None]]:
    key = KeySpec(f"key-{number}", f"{number}" * 20, "s" * 40, ())

    async def work() -> None:
        await engine.put_key(key)
        assert key.name in await engine.keys()
        await engine.delete_key(key.name)

    return work


def _transfer(store: AttachmentBucket, number: int) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        await store.put(f"{number:032x}", _CONTENT)
        assert await store.get(f"{number:032x}") == _CONTENT

    return work


@asynccontextmanager
async def _repeated(*works: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Again and again until the end of the block, which fails as the work does."""

    async def again(work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await work()

    async with _ending(*(again(work) for work in works)):
        yield


@asynccontextmanager
async def _listening(engine: SeaweedObjects) -> AsyncIterator[None]:
    async def listen() -> None:
        async with aclosing(engine.made()) as made:
            async for _ in made:
                pass

    async with _ending(listen()):
        yield


@asynccontextmanager
async def _ending(*works: Awaitable[None]) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_awaited(work)) for work in works]
        yield
        for task in tasks:
            task.cancel()


async def _awaited(work: Awaitable[None]) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        await work


if __name__ == "__main__":
    main()
