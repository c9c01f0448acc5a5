"""How soon jobs begin, and how many a worker gets done."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

from bench import machine
from bench.noop_worker import NOOP, noop_queue
from bench.results import Result
from roost.jobs import JobArgs
from roost.store import Store

_SINGLES = 100
_PAUSE = 0.01
_JOBS = 1000
_DRAINS = 3
_QUEUE = 20_000
_NEWCOMERS = 30


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    command = [sys.executable, "-m", "bench.noop_worker", store.dsn]
    with machine.running(command, "worker ready") as (pid, _):
        await _drain(store)
        delays = sorted([await _delay(store) for _ in range(_SINGLES)])
        cpu = machine.cpu_seconds(pid)
        drains = [await _drain(store) for _ in range(_DRAINS)]
        cpu = (machine.cpu_seconds(pid) - cpu) / (_DRAINS * _JOBS)
    late = f"95 %: {delays[_SINGLES * 95 // 100] * 1000:.1f} ms"
    note = f"CPU us of the worker for each: {cpu * 1e6:.0f}"
    yield Result("commit to first step", median(delays) * 1000, "ms", 5, note=late)
    yield Result("drain of 1,000 no-op jobs", _JOBS / median(drains), "/s", 1000, "at least", note)
    async with _long_queue(store):
        with machine.running(command, "worker ready"):
            behind = [await _delay(store, account_id=2) for _ in range(_NEWCOMERS)]
    note = f"{median(behind) * 1000:.1f} ms; the worst {max(behind) * 1000:.1f} ms"
    name = "first step while another account has 20,000 jobs queued"
    yield Result(name, median(behind) / median(delays), "x alone", 10, note=note)


@asynccontextmanager
async def _long_queue(store: Store) -> AsyncIterator[None]:
    """Of one account: no worker is through with it before the block ends."""
    await store.execute(
        """
        insert into job (kind, args, step, account_id, resource, run_at, deadline, created)
        select 'noop', '{}', 'begin', 1, 'queue:' || n, '-infinity', now() + interval '1 day', now()
        from generate_series(1, $1) as n
        """,
        _QUEUE,
    )
    yield
    left = "select count(*) from job where account_id = 1 and status = 'queued'"
    assert await store.fetchval(left), "the queue was too short for this machine"


async def _delay(store: Store, account_id: int | None = None) -> float:
    """Seconds from the commit of a job to the beginning of its first step."""
    async with store.transaction() as db:
        job = await noop_queue().enqueue(db, NOOP, JobArgs(), account_id=account_id)
    committed = time.monotonic()
    await asyncio.sleep(_PAUSE)
    while not (found := await noop_queue().find(store, job.id)) or not found.results:
        await asyncio.sleep(_PAUSE)
    began = found.results["begin"]
    assert isinstance(began, dict)
    return float(str(began["at"])) - committed


async def _drain(store: Store) -> float:
    """Seconds from the commit of many jobs, each of its own resource, until all are done."""
    queue = noop_queue()
    async with store.transaction() as db:
        for number in range(_JOBS):
            await queue.enqueue(db, NOOP, JobArgs(), resource=f"noop:{number}")
    committed = time.monotonic()
    while await store.fetchval("select exists (select from job where finished is null)"):
        await asyncio.sleep(_PAUSE)
    return time.monotonic() - committed
