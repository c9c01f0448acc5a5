"""A worker as a process of its own, for tests that kill it: `toy_worker URL NAME LEASE`.

Its steps leave notes outside of their transactions, as an engine would, and inside of them.
"""

import asyncio
import sys
import time
from pathlib import Path

from prometheus_client import CollectorRegistry

from roost.clock import Clock
from roost.jobs import (
    Environment,
    Faults,
    JobArgs,
    JobKind,
    JobQueue,
    Metrics,
    NullListener,
    Run,
    Services,
    Step,
    Verdict,
    Worker,
    WorkerSettings,
    next_step,
)
from roost.settings import Settings
from roost.store import Queries, Store
from tests.jobs.notes import note, noting


class Nothing(JobArgs):
    pass


class PathArgs(JobArgs):
    path: str


class Name:
    """Of the worker."""

    def __init__(self, text: str) -> None:
        self.text = text


async def work(run: Run[Nothing]) -> Verdict:
    await note(run.store, run.job.id, f"begin {run.job.step}")
    await asyncio.sleep(0.005)
    await note(run.store, run.job.id, f"end {run.job.step}")
    return next_step(noting(run.job, f"commit {run.job.step}"))


THREE = JobKind("three", Nothing, tuple(Step(name, work) for name in ("a", "b", "c")))


async def block(run: Run[PathArgs]) -> Verdict:
    """Holds the whole process until a file is there, so that no heartbeat can interfere.

    Another file tells that it does.
    """
    name = run.get(Name).text
    await note(run.store, run.job.id, f"begin {name}")
    Path(f"{run.args.path}.{name}").touch()  # noqa: ASYNC240
    while not Path(run.args.path).exists():  # noqa: ASYNC240
        time.sleep(0.01)  # noqa: ASYNC251

    async def write(db: Queries) -> None:
        await note(run.store, run.job.id, f"tried {name}")
        await note(db, run.job.id, f"commit {name}")

    return next_step(write)


async def linger(run: Run[PathArgs]) -> Verdict:
    """Waits for a file as a step should."""
    await note(run.store, run.job.id, f"begin {run.get(Name).text}")
    while not Path(run.args.path).exists():  # noqa: ASYNC240
        await asyncio.sleep(0.01)
    return next_step(noting(run.job, f"commit {run.get(Name).text}"))


LINGER = JobKind("linger", PathArgs, (Step("linger", linger),))

BLOCK = JobKind("block", PathArgs, (Step("block", block),))

KINDS = (THREE, BLOCK, LINGER)


async def main(url: str, name: str, lease: float) -> None:
    store = await Store.open(Settings(database_url=url))
    queue = JobQueue(KINDS, Clock(), NullListener())
    settings = WorkerSettings(slots=4, lease=lease)
    services, metrics = Services(Name(name)), Metrics(CollectorRegistry())
    await Worker(Environment(store, queue, services, settings, Faults(), metrics)).run()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
