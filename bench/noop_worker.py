"""One worker of jobs that do nothing but say when they began.

python -m bench.noop_worker DSN
"""

import sys
import time

import click
import uvloop
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
from roost.store import Store


async def _begin(run: Run[JobArgs]) -> Verdict:
    return next_step(result={"at": time.monotonic()})


NOOP = JobKind("noop", JobArgs, (Step("begin", _begin),))


def noop_queue() -> JobQueue:
    return JobQueue((NOOP,), Clock(), NullListener())


async def _work(dsn: str) -> None:
    store = await Store.open(Settings(database_url=dsn))
    metrics = Metrics(CollectorRegistry())
    environment = Environment(store, noop_queue(), Services(), WorkerSettings(), Faults(), metrics)
    click.echo("worker ready")
    await Worker(environment).run()


if __name__ == "__main__":
    uvloop.run(_work(sys.argv[1]))
