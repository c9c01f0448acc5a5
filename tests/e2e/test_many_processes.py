"""One cloud, many processes: servers without a worker, workers, one database."""

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from roost.store.pool import connect
from tests.e2e.careful import change
from tests.e2e.checks import check_sound, events_of, settled
from tests.e2e.cloud import Cloud, opened
from tests.e2e.program import Program
from tests.engines.harness import until
from tests.support.client import Json
from tests.support.instances import INSTANCES, create_body

_LEASE = 3.0
_STEP_SECONDS = 1.0
"""Of a simulated transition, so that a job can be caught in the middle."""
_BUSY = 30
"""Seconds that a machine with other work may add."""
_STOP_SECONDS = 10.0 + _BUSY
_NO_WORKER = "no worker runs jobs"
_REMEMBERING = "tests.e2e.remembering_serve"


@dataclass
class Site:
    """A server that only answers, and workers beside it."""

    cloud: Cloud
    workers: list[Program]
    database_url: str

    async def hire(self) -> Program:
        worker = await self.cloud.launch("worker")
        self.workers.append(worker)
        await worker.said("roost worker ready")
        return worker

    async def fetch(self, query: str, *values: object) -> list[Json]:
        connection = await connect(self.database_url)
        try:
            return [dict(row) for row in await connection.fetch(query, *values)]
        finally:
            await connection.close()

    async def running_job(self) -> Json | None:
        """The job of an instance that a worker runs now, with the worker's pid."""
        rows = await self.fetch(
            """
            select id, fence, owner from job
            where status = 'running' and schedule is null
            """
        )
        for row in rows:
            row["pid"] = _pid(row["owner"])
        return rows[0] if rows else None

    async def fence(self, job_id: int) -> int:
        """How often the job has been claimed."""
        [row] = await self.fetch("select fence from job where id = $1", job_id)
        fence: int = row["fence"]
        return fence


def _pid(owner: str) -> int:
    """Owners are named HOST-PID-RANDOM."""
    found = re.search(r"-(\d+)-[0-9a-f]+$", owner)
    assert found is not None
    return int(found[1])


@pytest.fixture
async def site(database_url: str, tmp_path: Path) -> AsyncIterator[Site]:
    options = {"engines": "simulated", "job_lease": _LEASE, "simulated_latency": _STEP_SECONDS}
    async with opened(tmp_path / "state", database_url=database_url, **options) as cloud:
        site = Site(cloud, [], database_url)
        await cloud.start("--no-worker")
        try:
            yield site
        finally:
            for worker in site.workers:
                await worker.kill()


async def test_a_worker_takes_over_from_one_that_was_killed(site: Site) -> None:
    client = await site.cloud.client()
    first = await client.post(INSTANCES, create_body(label="first", booted=True))
    status, health = await _health(site.cloud)
    assert (status, health["status"], health["problems"]) == (200, "degraded", [_NO_WORKER])
    await asyncio.gather(site.hire(), site.hire())
    await settled(site.cloud)
    health = await until(
        lambda: _health(site.cloud), lambda answer: bool(answer[1]["status"] == "ok")
    )
    assert health[1]["workers"] == 2
    second = await client.post(INSTANCES, create_body(label="second", booted=True))
    job = await until(site.running_job, lambda job: job is not None)
    assert job is not None
    [owner] = [worker for worker in site.workers if worker.pid == job["pid"]]
    await owner.kill()
    killed = time.monotonic()
    await until(lambda: site.fence(job["id"]), lambda fence: fence > job["fence"])
    assert time.monotonic() - killed <= _LEASE + _BUSY
    await check_sound(site.cloud, {first["id"]: "running", second["id"]: "running"})
    for row in (first, second):
        done = [("compute_create", "finished"), ("compute_boot", "finished")]
        assert await events_of(site.cloud, row["id"]) == done


async def test_a_worker_that_stops_hands_over_its_job(site: Site) -> None:
    """At once: nobody has to wait for its lease."""
    client = await site.cloud.client()
    await asyncio.gather(site.hire(), site.hire())
    row = await client.post(INSTANCES, create_body(booted=True))
    job = await until(site.running_job, lambda job: job is not None)
    assert job is not None
    [owner] = [worker for worker in site.workers if worker.pid == job["pid"]]
    code, seconds = await owner.terminate()
    assert code == 0
    assert seconds < _STOP_SECONDS
    await check_sound(site.cloud, {row["id"]: "running"})
    assert {status for _, status in await events_of(site.cloud, row["id"])} == {"finished"}


async def test_a_server_that_stops_answers_what_it_was_asked(site: Site) -> None:
    client, server = await site.cloud.client(), site.cloud.server
    assert server is not None
    rows = [await client.post(INSTANCES, create_body(booted=False)) for _ in range(2)]
    await site.hire()
    await settled(site.cloud)
    first, second = (row["id"] for row in rows)
    async with _held(site, first) as let_go:
        asked = asyncio.create_task(change("compute_boot", first).send(client))
        await _waits(site)
        ending = asyncio.create_task(server.terminate())
        await until(lambda: _refuses(site.cloud), bool)
        assert not asked.done()
        await let_go()
        answer = await asked
    assert answer is not None
    assert (answer.status, answer.body) == (200, {})
    code, seconds = await ending
    assert code == 0
    assert seconds < _STOP_SECONDS
    await site.cloud.start("--no-worker")
    await check_sound(site.cloud, {first: "running", second: "offline"})


async def test_a_request_without_end_does_not_keep_a_server(site: Site) -> None:
    client, server = await site.cloud.client(), site.cloud.server
    assert server is not None
    await site.hire()
    row = await client.post(INSTANCES, create_body(booted=False))
    await settled(site.cloud)
    async with _held(site, row["id"]):
        asked = asyncio.create_task(change("compute_boot", row["id"]).send(client))
        await _waits(site)
        code, seconds = await server.terminate()
        assert code == 0
        assert seconds < _STOP_SECONDS
        answer = await asked
        assert answer is not None
        assert answer.status == 503
    await site.cloud.start("--no-worker")
    await check_sound(site.cloud, {row["id"]: "offline"})


async def test_a_revoked_token_is_refused_at_once(site: Site) -> None:
    """By a server that is told of it, and would trust it for an hour."""
    assert site.cloud.server is not None
    await site.cloud.server.terminate()
    await site.cloud.start("--no-worker", program=(sys.executable, "-m", _REMEMBERING))
    made = site.cloud.command("token", "create", "--label", "short", "--scopes", "*")
    assert made.returncode == 0, made.stderr
    client = (await site.cloud.client()).as_user(made.stdout.strip())
    await client.get("/account/events")
    lines = site.cloud.command("token", "list").stdout.splitlines()
    [number] = [line.split()[0] for line in lines if made.stdout[:16] in line]
    done = site.cloud.command("token", "revoke", number)
    assert done.returncode == 0, done.stderr
    await until(lambda: client.send("GET", "/account/events"), lambda answer: answer.status == 401)


@asynccontextmanager
async def _held(site: Site, compute_id: int) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Requests that change the instance wait until it is let go."""
    connection = await connect(site.database_url)
    try:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(
            "select from compute_instance where id = $1 for update", compute_id
        )
        yield transaction.commit
    finally:
        await connection.close()


async def _waits(site: Site) -> None:
    """Returns when a request waits for what is held."""
    query = """
        select pid from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()
        """
    await until(lambda: site.fetch(query), bool)


async def _refuses(cloud: Cloud) -> bool:
    """Whether the server takes no more connections."""
    host, _, port = cloud.url.removeprefix("http://").rpartition(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except ConnectionError:
        return True
    writer.close()
    return False


async def _health(cloud: Cloud) -> tuple[int, Json]:
    async with aiohttp.ClientSession() as session, session.get(f"{cloud.url}/healthz") as answer:
        return answer.status, await answer.json()
