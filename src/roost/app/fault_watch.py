"""Listens to the engines of this process: what goes off, fails or is made is looked at at once, and
S3 clients are waited for where no server runs."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import TypeVar

import structlog

from roost.app.roost import Roost
from roost.jobs.queue import JobQueue
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.watch_jobs import went_off
from roost.resources.databases.disk_jobs import fills
from roost.resources.databases.engine import all_engines
from roost.resources.databases.watch_jobs import fails
from roost.resources.object_storage import adoption_jobs
from roost.resources.object_storage.engine import OBJECT_PLANE, MadeBucket, ObjectEngine
from roost.resources.object_storage.key_steps import RegionDoor
from roost.secrets import Box
from roost.store import Queries

_PAUSE_SECONDS = 5.0
"""After a fault; the watch of each minute goes on meanwhile."""

T = TypeVar("T")

Hear = Callable[[], AsyncGenerator[T, None]]
"""What something has happened to."""
Look = Callable[[Queries, JobQueue, T], Awaitable[None]]

_log = structlog.get_logger(__name__)


async def listen(roost: Roost) -> None:
    """Until it is cancelled."""
    guests = roost.engines.by_region(INSTANCE_PLANE)
    async with asyncio.TaskGroup() as tasks:
        for region, instance_engine in guests.items():
            tasks.create_task(_listen(roost, region, instance_engine.endings, went_off))
        for region, database_engine in all_engines(roost.engines):
            tasks.create_task(_listen(roost, region, database_engine.faults, fails))
            tasks.create_task(_listen(roost, region, database_engine.fillings, fills))
        for region, object_engine in roost.engines.by_region(OBJECT_PLANE).items():
            look = partial(_look_at_bucket, region)
            tasks.create_task(_listen(roost, region, object_engine.made, look))
            tasks.create_task(_attend(roost, region, object_engine))


async def _look_at_bucket(region: str, db: Queries, queue: JobQueue, made: MadeBucket) -> None:
    await adoption_jobs.look(db, queue, region, made)


async def _attend(roost: Roost, region: str, engine: ObjectEngine) -> None:
    door = RegionDoor(roost.store, roost.services.get(Box), region, engine)
    while True:
        try:
            await engine.attend(door)
        except Exception:
            _log.exception("object_storage_not_attended", region=region)
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return


async def _listen(roost: Roost, region: str, hear: Hear[T], look: Look[T]) -> None:
    while True:
        try:
            async with aclosing(hear()) as heard:
                async for each in heard:
                    async with roost.store.transaction() as db:
                        await look(db, roost.queue, each)
        except Exception:
            _log.exception("fault_watch_failed", region=region)
        await asyncio.sleep(_PAUSE_SECONDS)
