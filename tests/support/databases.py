"""Managed databases over HTTP, and what becomes of them."""

import asyncio
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from functools import partial

from roost.app.roost import Roost
from roost.clock import Clock
from roost.core.planes import Engines
from roost.engines.simulated.databases import SimulatedDatabases
from roost.engines.simulated.plane import Operation
from roost.ids import new_uuid
from roost.jobs.kinds import JobKind
from roost.resources.databases import watch_jobs
from roost.resources.databases.engine import PLANES, KindName
from tests.support.client import Client, Json, until
from tests.support.instances import OMITTED
from tests.support.volumes import failing

DATABASES = "/databases/mysql/instances"
POSTGRESQL = "/databases/postgresql/instances"
_VALID = {
    "label": "orders",
    "region": "us-lake",
    "type": "g1-nano-1",
    "engine": "mysql/8.0.30",
}
_RESTS = ("active", "failed", "degraded")


def database_engine(
    roost: Roost, region: str = "us-lake", kind: KindName = "mysql"
) -> SimulatedDatabases:
    engine = roost.services.get(Engines).of(PLANES[kind], region)
    assert isinstance(engine, SimulatedDatabases)
    return engine


def planned(roost: Roost, operation: Operation) -> AbstractAsyncContextManager[None]:
    """While the block runs, each call of the operation fails with the reason `planned`."""
    return failing(roost, operation, "planned")


def database_body(**changes: object) -> Json:
    """A body that is accepted, with some fields set or OMITTED."""
    body = {**_VALID, **changes}
    return {field: value for field, value in body.items() if value is not OMITTED}


async def made_database(client: Client, **changes: object) -> Json:
    """A new database, when it rests."""
    row = await client.post(DATABASES, database_body(**changes))
    return await at_rest(client, row["id"])


async def made_postgresql(client: Client, **changes: object) -> Json:
    """A new PostgreSQL database, when it rests."""
    body = database_body(**{"engine": "postgresql/15", **changes})
    row = await client.post(POSTGRESQL, body)
    return await at_rest(client, row["id"], POSTGRESQL)


async def at_rest(client: Client, database_id: int, path: str = DATABASES) -> Json:
    """The database when nothing is being done with it."""
    view = partial(client.get, f"{path}/{database_id}")
    return await until(view, lambda row: row["status"] in _RESTS)


async def made_backup(
    client: Client, database_id: int, label: str | None = None, databases: str = DATABASES
) -> Json:
    """A snapshot, when it is whole."""
    path = f"{databases}/{database_id}/backups"
    label = label or f"b_{new_uuid()[:8]}"
    assert await client.post(path, {"label": label}) == {}
    await at_rest(client, database_id, databases)
    rows = (await client.get(path))["data"]
    return next(row for row in rows if row["label"] == label)


async def tick(roost: Roost, kind: JobKind[watch_jobs.AllArgs] = watch_jobs.WATCH) -> None:
    """What the clock would do, now."""
    async with roost.store.transaction() as db:
        job = await roost.queue.enqueue(db, kind, watch_jobs.AllArgs())

    async def finished() -> bool:
        found = await roost.queue.find(roost.store, job.id)
        return found is not None and found.finished is not None

    await until(finished, bool)


async def next_second(clock: Clock | None = None) -> datetime:
    """The second that has just begun (UTC): what was done before is before it."""
    clock = clock or Clock()
    second = clock.seconds() + timedelta(seconds=1)
    while clock.now() < second:
        await asyncio.sleep(0.02)
    return second


async def database_events(client: Client, database_id: int) -> list[tuple[str, str]]:
    """Actions and status, the newest first."""
    wanted = {"entity.id": database_id, "entity.type": "database"}
    page = await client.get("/account/events?page_size=500", filter=wanted)
    return [(event["action"], event["status"]) for event in page["data"]]
