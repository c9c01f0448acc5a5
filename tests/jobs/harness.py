"""Every job kind must survive a crash at each boundary, a failure at each step, and repetition.

A test module of a group lists its scenarios and runs all that this module knows over them:

    @pytest.mark.parametrize(("scenario", "trial"), pairs(SCENARIOS), ids=str)
    async def test_jobs(environment, scenario, trial):
        await trial.run(environment, scenario)
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from roost.jobs import AnyKind, Boundary, Crash, Environment, Fatal, Job, Point, Worker
from roost.jobs.kinds import AnyStep
from tests.jobs.bench import until

REASON = "planned by the harness"

_POINTS = (Point.BEFORE_STEP, Point.BEFORE_COMMIT)


class Case(Protocol):
    """One job on resources of its own."""

    @property
    def job_id(self) -> int: ...

    async def check_done(self) -> None:
        """Assert that database and engine hold what the job was to make, once."""

    async def check_failed(self) -> None:
        """Assert a named state, and no trace of a half-made thing in database and engine."""


@dataclass(frozen=True)
class Scenario:
    """How to begin a job of a kind: set up what it needs, and enqueue it."""

    kind: AnyKind
    begin: Callable[[Environment], Awaitable[Case]]
    title: str = ""
    passes: tuple[str, ...] | None = None
    """The steps that the job comes to; all of its kind when None."""
    error: str | None = None
    """How the job fails though nothing strikes it; `check_done` tells what is there then."""

    def __str__(self) -> str:
        return self.title or self.kind.name

    @property
    def steps(self) -> tuple[AnyStep, ...]:
        if self.passes is None:
            return self.kind.steps
        passed = tuple(step for step in self.kind.steps if step.name in self.passes)
        assert len(passed) == len(self.passes), f"steps that {self.kind.name} does not have"
        return passed


@dataclass(frozen=True)
class Trial:
    """Faults in the order in which they strike, and how the job must end in spite of them."""

    title: str
    faults: Mapping[Boundary, type[Crash] | type[Fatal]] = field(hash=False)
    error: str | None = None
    """How the job fails by them; None when it goes on as if nothing had struck it."""
    is_repeated: bool = False
    """Whether a longer trial has the same crash: this one tells at which step it fails."""

    def __str__(self) -> str:
        return self.title

    async def run(self, environment: Environment, scenario: Scenario) -> None:
        """Run one job through these faults, each crash on a worker of its own."""
        faults = environment.faults
        faults.clear()
        case = await scenario.begin(environment)
        for boundary, fault in self.faults.items():
            faults.plan(boundary, partial(fault, REASON))
        crashes = [boundary for boundary, fault in self.faults.items() if fault is Crash]
        for crash in crashes:
            await work_until(environment, partial(_struck, environment, crash))
            await _lapse(environment, case.job_id)
        await work_until(environment, partial(ended, environment, case.job_id))
        assert faults.pending() == {}, "the job never came to these boundaries"
        await self._check(environment, scenario, case)

    async def _check(self, environment: Environment, scenario: Scenario, case: Case) -> None:
        job = await _job(environment, case.job_id)
        assert job.undo_error is None
        error = self.error or scenario.error
        assert (job.status, job.error) == ("failed" if error else "done", error)
        if self.error:
            await case.check_failed()
        else:
            await case.check_done()


def trials(scenario: Scenario) -> list[Trial]:
    """All that can happen to a job at the boundaries of the steps that it comes to."""
    kind, steps = scenario.kind, scenario.steps
    return [
        Trial("nothing", {}),
        *_crashes(kind, steps),
        *_repetitions(kind, steps),
        *_failures(kind, steps),
        *_crashes_while_undoing(kind, steps),
    ]


def pairs(scenarios: Iterable[Scenario]) -> list[tuple[Scenario, Trial]]:
    return [(scenario, trial) for scenario in scenarios for trial in trials(scenario)]


def without_scenario(kinds: Iterable[str], scenarios: Iterable[Scenario]) -> list[str]:
    """The golden list: kinds that nothing here proves, and steps that no scenario comes to."""
    steps, passed = dict[str, set[str]](), dict[str, set[str]]()
    for scenario in scenarios:
        kind = scenario.kind
        steps[kind.name] = {f"{kind.name} {step.name}" for step in kind.steps}
        names = {f"{kind.name} {step.name}" for step in scenario.steps}
        passed.setdefault(kind.name, set()).update(names)
    missed = {name for kind, names in steps.items() for name in names - passed[kind]}
    return sorted((set(kinds) - steps.keys()) | missed)


def _crashes(kind: AnyKind, steps: Sequence[AnyStep]) -> Iterable[Trial]:
    """One that follows a commit leaves what one before the next step leaves, and one before the
    first step leaves nothing: the job engine's own tests show both once for all kinds."""
    for number, step in enumerate(steps):
        for point in _POINTS if number else (Point.BEFORE_COMMIT,):
            title = f"crash {point.name.lower()} {step.name}"
            boundary = Boundary(kind.name, step.name, point)
            lost = _lost(kind, step)
            repeated = point is Point.BEFORE_COMMIT and lost is None
            yield Trial(title, {boundary: Crash}, lost, is_repeated=repeated)


def _lost(kind: AnyKind, step: AnyStep) -> str | None:
    """How a job fails by one crash: it was the only attempt that the step has."""
    once = kind.retry_of(step.name).attempts == 1
    return f"the worker was lost during {step.name}, again and again" if once else None


def _repetitions(kind: AnyKind, steps: Sequence[AnyStep]) -> Iterable[Trial]:
    """Each step, then each undo, has done its work when the worker dies."""
    crashes = {
        Boundary(kind.name, step.name, Point.BEFORE_COMMIT): Crash
        for step in steps
        if not _lost(kind, step)
    }
    if crashes:
        yield Trial("repeat steps", crashes)
    undos = [step for step in reversed(steps) if step.undo]
    if undos:
        last = Boundary(kind.name, steps[-1].name, Point.BEFORE_COMMIT)
        repeated = {
            Boundary(kind.name, step.name, Point.BEFORE_COMMIT, undo=True): Crash for step in undos
        }
        yield Trial("repeat undos", {last: Fatal, **repeated}, REASON)


def _failures(kind: AnyKind, steps: Sequence[AnyStep]) -> Iterable[Trial]:
    for step in steps:
        for point in _POINTS:
            title = f"fail {point.name.lower()} {step.name}"
            yield Trial(title, {Boundary(kind.name, step.name, point): Fatal}, REASON)


def _crashes_while_undoing(kind: AnyKind, steps: Sequence[AnyStep]) -> Iterable[Trial]:
    last = Boundary(kind.name, steps[-1].name, Point.BEFORE_COMMIT)
    for step in steps:
        for point in _POINTS if step.undo else ():
            crash = Boundary(kind.name, step.name, point, undo=True)
            title = f"crash {point.name.lower()} undo of {step.name}"
            repeated = point is Point.BEFORE_COMMIT
            yield Trial(title, {last: Fatal, crash: Crash}, REASON, is_repeated=repeated)


async def work_until(environment: Environment, holds: Callable[[], Awaitable[bool]]) -> None:
    worker = Worker(environment)
    task = asyncio.create_task(worker.run())
    try:
        await until(holds)
    finally:
        worker.stop()
        await task


async def _struck(environment: Environment, crash: Boundary) -> bool:
    return crash not in environment.faults.pending()


async def ended(environment: Environment, job_id: int) -> bool:
    return (await _job(environment, job_id)).finished is not None


async def _job(environment: Environment, job_id: int) -> Job:
    job = await environment.queue.find(environment.store, job_id)
    assert job is not None
    return job


async def _lapse(environment: Environment, job_id: int) -> None:
    """Spare the wait for the lease of a worker that is known to be dead."""
    lapse = "update job set lease_until = '-infinity' where id = $1 and status = 'running'"
    await environment.store.execute(lapse, job_id)
