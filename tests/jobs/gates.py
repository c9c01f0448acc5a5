"""Steps that say where they are and wait until a test lets them go."""

import asyncio
from collections.abc import Awaitable, Callable

from roost.jobs import Job, JobArgs, JobKind, Run, Step, Verdict, next_step
from roost.store import Queries
from tests.jobs.bench import QUICK
from tests.jobs.notes import note, noting


class Nothing(JobArgs):
    pass


class Gate:
    """Closed until a test opens it; `reached` is set when a step stands before it."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.reached = asyncio.Event()


def saying(text: str) -> Callable[[Run[Nothing]], Awaitable[Verdict]]:
    async def say(run: Run[Nothing]) -> Verdict:
        return next_step(noting(run.job, text))

    return say


async def wait(run: Run[Nothing]) -> Verdict:
    gate = run.get(Gate)
    gate.reached.set()
    await gate.opened.wait()
    return next_step(noting(run.job, "waited"))


async def _on_failed(db: Queries, job: Job, args: Nothing) -> None:
    await note(db, job.id, f"resource {job.status}")


GATED = JobKind(
    "gated",
    Nothing,
    (
        Step("a", saying("a"), undo=saying("undo a")),
        Step("wait", wait, undo=saying("undo wait")),
        Step("b", saying("b"), undo=saying("undo b")),
    ),
    retry=QUICK,
    on_failed=_on_failed,
)

FREE = JobKind("free", Nothing, (Step("a", saying("a")),))
