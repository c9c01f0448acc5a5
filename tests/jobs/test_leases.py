"""Workers that die or fall silent, as real processes."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import asyncpg
import pytest

from roost.jobs import JobKind, Run, Step, Verdict, WorkerSettings, lease_queries, next_step
from roost.store import Store
from tests.jobs.bench import Bench, until
from tests.jobs.conftest import Logs
from tests.jobs.notes import notes
from tests.jobs.toy_worker import BLOCK, KINDS, LINGER, THREE, Name, Nothing, PathArgs

LEASE = 3.0
BUSY = 30
"""Seconds that a machine with other work may add."""
ROOT = Path(__file__).parents[2]


class Processes:
    """Workers that are all dead at the end of the test."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.all: list[subprocess.Popen[bytes]] = []

    def start(self, name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.jobs.toy_worker", self._url, name, str(LEASE)]
        process = subprocess.Popen(command, cwd=ROOT)
        self.all.append(process)
        return process


@pytest.fixture
def processes(database_url: str) -> Iterator[Processes]:
    processes = Processes(database_url)
    yield processes
    for process in processes.all:
        process.kill()
        process.wait()


@pytest.fixture
def bench(noted: Store) -> Bench:
    own = WorkerSettings(lease=LEASE, grace=1)
    return Bench(noted, *KINDS, services=[Name("here")], settings=own)


async def noted_text(store: Store, job_id: int, text: str) -> None:
    async def holds() -> bool:
        return text in await notes(store, job_id)

    await until(holds)


async def holding(mark: Path) -> None:
    """Wait until a worker is inside of the step that blocks it."""

    async def holds() -> bool:
        return await asyncio.to_thread(mark.exists)

    await until(holds)


async def lease_until(store: Store, job_id: int) -> datetime:
    lease: datetime = await store.fetchval("select lease_until from job where id = $1", job_id)
    return lease


async def _renewed(store: Store, job_id: int, first: datetime) -> bool:
    """Whether the worker has lived longer than its first lease."""
    return await lease_until(store, job_id) > first + timedelta(seconds=LEASE)


async def test_a_killed_worker_is_replaced_within_its_lease(
    noted: Store, bench: Bench, processes: Processes, tmp_path: Path, logs: Logs
) -> None:
    gate = tmp_path / "gate"
    job_id = await bench.enqueue(LINGER, PathArgs(path=str(gate)), "x:1")
    dead = processes.start("dead")
    await noted_text(noted, job_id, "begin dead")
    first = await lease_until(noted, job_id)
    await until(lambda: _renewed(noted, job_id, first))
    async with bench.worker():
        assert await notes(noted, job_id) == ["begin dead"]
        dead.kill()
        killed = time.monotonic()
        gate.touch()
        await noted_text(noted, job_id, "commit here")
        assert time.monotonic() - killed <= LEASE + BUSY
        await bench.ended(job_id)
    assert await notes(noted, job_id) == ["begin dead", "begin here", "commit here"]
    assert bench.metric("roost_job_lost_leases_total", kind="linger") == 1
    [told] = [line for line in logs if line["event"] == "job_lease_lapsed"]
    assert (told["job"], told["job_kind"], told["resource"]) == (job_id, "linger", "x:1")


async def test_a_paused_worker_writes_nothing_once_it_is_replaced(
    noted: Store, bench: Bench, processes: Processes, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    job_id = await bench.enqueue(BLOCK, PathArgs(path=str(gate)))
    paused = processes.start("paused")
    await holding(tmp_path / "gate.paused")
    paused.send_signal(signal.SIGSTOP)
    gate.touch()
    async with bench.worker():
        job = await bench.ended(job_id)
    paused.send_signal(signal.SIGCONT)
    await noted_text(noted, job_id, "tried paused")
    other = await bench.enqueue(BLOCK, PathArgs(path=str(gate)))
    await bench.ended(other)
    assert await notes(noted, other) == ["begin paused", "tried paused", "commit paused"]
    assert "commit paused" not in await notes(noted, job_id)
    assert await bench.job(job_id) == job


async def test_a_worker_that_gets_its_lost_job_back_runs_it_once(
    noted: Store, bench: Bench, processes: Processes, tmp_path: Path
) -> None:
    """Owner and status are right again for the first attempt; only the fence is not."""
    gate = tmp_path / "gate"
    job_id = await bench.enqueue(BLOCK, PathArgs(path=str(gate)))
    paused = processes.start("paused")
    await holding(tmp_path / "gate.paused")
    paused.send_signal(signal.SIGSTOP)
    gate.touch()
    await noted.execute("update job set fence = fence + 1, revision = revision + 1")
    paused.send_signal(signal.SIGCONT)
    assert (await bench.ended(job_id)).fence == 3
    said = await notes(noted, job_id)
    assert said.count("tried paused") == 2
    assert said.count("commit paused") == 1


async def test_jobs_survive_a_kill_in_order_and_without_overlap(
    noted: Store, bench: Bench, processes: Processes
) -> None:
    async with noted.transaction() as conn:
        for n in range(300):
            await bench.queue.enqueue(conn, THREE, Nothing(), resource=f"x:{n % 10}")
    doomed = processes.start("doomed")
    processes.start("survivor")
    await until(lambda: _commits(noted, 150))
    doomed.kill()
    await until(lambda: _commits(noted, 900))
    counts = await noted.fetch("select status, count(*) from job group by status")
    assert [tuple(row) for row in counts] == [("done", 300)]
    for n in range(10):
        await _check_turns(noted, f"x:{n}")
    repeated = await noted.fetchval("select count(*) from note where text like 'begin%'") - 900
    assert repeated <= 4


async def _commits(store: Store, least: int) -> bool:
    found: int = await store.fetchval("select count(*) from note where text like 'commit%'")
    return found >= least


async def _check_turns(store: Store, resource: str) -> None:
    """Each job ended before the next one began, and every step was committed once, in order."""
    rows = await store.fetch(
        """
        select job.id, min(at) as began, max(at) as ended,
            array_agg(text order by note.id) filter (where text like 'commit%') as commits
        from job join note on job_id = job.id where resource = $1 group by job.id order by job.id
        """,
        resource,
    )
    assert len(rows) == 30
    assert all(row["commits"] == ["commit a", "commit b", "commit c"] for row in rows)
    assert all(earlier["ended"] <= later["began"] for earlier, later in pairwise(rows))


async def test_a_job_that_kills_its_workers_is_given_up(noted: Store, bench: Bench) -> None:
    job_id = await bench.enqueue(THREE, Nothing())
    await noted.execute(
        """update job set status = 'running', owner = 'dead', attempt = 7, step = 'b',
            lease_until = '-infinity' where id = $1""",
        job_id,
    )
    async with bench.worker():
        job = await bench.ended(job_id)
    assert (job.status, await notes(noted, job_id)) == ("failed", [])
    assert job.error == "the worker was lost during b, again and again"


async def test_a_worker_that_cannot_renew_its_leases_stops_its_steps(
    noted: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def hold(_run: Run[Nothing]) -> Verdict:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return next_step()

    async def unreachable(*_args: object) -> list[lease_queries.Held]:
        raise OSError("no route to host")

    kind = JobKind("hold", Nothing, (Step("hold", hold),))
    bench = Bench(noted, kind)
    monkeypatch.setattr(lease_queries, "renew", unreachable)
    monkeypatch.setattr(lease_queries, "recover", unreachable)
    await bench.enqueue(kind, Nothing())
    async with bench.worker(), asyncio.timeout(60):
        await begun.wait()
        await stopped.wait()


async def test_a_worker_goes_on_when_the_database_comes_back(noted: Store, bench: Bench) -> None:
    """All its connections are cut while a step runs."""
    async with bench.worker():
        job_id = await bench.enqueue(THREE, Nothing())
        await noted_text(noted, job_id, "begin a")
        await noted.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
            where pid <> pg_backend_pid() and datname = current_database()"""
        )
        await until(lambda: _done(bench, job_id))
        assert (await bench.ended(await bench.enqueue(THREE, Nothing()))).status == "done"
    commits = [text for text in await notes(noted, job_id) if text.startswith("commit")]
    assert commits == ["commit a", "commit b", "commit c"]


async def _done(bench: Bench, job_id: int) -> bool:
    try:
        return (await bench.job(job_id)).status == "done"
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError):
        return False
