"""Job kinds: a table of named steps with their undos."""

import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, Never, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from roost.jobs.model import Job
from roost.jobs.run import Run, Tools
from roost.jobs.verdicts import Fatal, Verdict
from roost.store import Queries


class JobArgs(BaseModel):
    """Base of a kind's arguments; what a newer release added has defaults."""

    model_config = ConfigDict(frozen=True)


# Contravariant, so that any kind is an AnyKind: nobody makes arguments through that type.
Args = TypeVar("Args", bound=JobArgs, contravariant=True)

Action: TypeAlias = Callable[[Run[Args]], Awaitable[Verdict]]

_SHORT_SECONDS = 120.0

Effect: TypeAlias = Callable[[Queries, Job, Args], Awaitable[None]]
"""Rows to change when a job is enqueued or ends, in the same transaction."""


@dataclass(frozen=True, slots=True)
class Retry:
    """After failure n wait min(base * 2^n, longest) seconds, less a random part up to half."""

    attempts: int = 8
    base: float = 1.0
    longest: float = 300.0

    def delay(self, failures: int) -> float:
        return min(self.base * 2.0**failures, self.longest) * random.uniform(0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Step(Generic[Args]):
    """One re-runnable piece of work: it may run again after any crash, also when it was done.

    `undo` takes back what the step did, wholly, partly or not at all. A step must stop working
    when it is cancelled, which happens when `timeout` seconds have passed or the job is stopped.
    """

    name: str
    action: Action[Args]
    undo: Action[Args] | None = None
    timeout: float = 60.0
    retry: Retry | None = None
    """The kind's when None."""
    host: Callable[[Args], str] | None = None
    """Whose workers run the step and its undo; None: those that ran the step before."""


@dataclass(frozen=True, slots=True)
class JobKind(Generic[Args]):
    """A named sequence of steps.

    `deadline`: seconds from due time until an alert is raised; the job goes on. They are real
    ones, also where a lab moves the clock.
    `resource`: what a job works on, such as `compute:100001`. Jobs of one resource run one at a
    time, first come first served; a job that waits for another attempt keeps its resource.
    `event`: the action of the event that shows a job, where that is not the kind's name.
    `joined`: whether an event joins the same job that is queued already (`enqueue_once`).
    `permanent`: exceptions that fail the job at once.
    `per_account`: jobs of this kind that one account runs at the same time; None: as many as its
    share of the slots. Workers that claim at the same moment may pass it.
    `on_failed` leaves the resource in a named state; it is not called for a pre-empted job.
    """

    name: str
    args: type[Args]
    steps: tuple[Step[Args], ...]
    deadline: float = 3600.0
    retry: Retry = Retry()
    resource: Callable[[Args], str] | None = None
    event: str | None = None
    joined: bool = False
    permanent: tuple[type[Exception], ...] = ()
    on_enqueued: Effect[Args] | None = None
    on_done: Effect[Args] | None = None
    on_failed: Effect[Args] | None = None
    per_account: int | None = None
    long: bool = field(init=False)
    """Whether a step may keep its slot for more than two minutes; what is short has slots that no
    long job takes."""

    def __post_init__(self) -> None:
        names = [step.name for step in self.steps]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"the steps of {self.name} need distinct names")
        long = any(step.timeout > _SHORT_SECONDS for step in self.steps)
        object.__setattr__(self, "long", long)

    def find(self, name: str) -> Step[Args] | None:
        """None for a step of another release."""
        return next((step for step in self.steps if step.name == name), None)

    def after(self, name: str) -> Step[Args] | None:
        """The step after `name`; None after the last."""
        return dict(zip((s.name for s in self.steps), self.steps[1:], strict=False)).get(name)

    def undoing(self, name: str) -> Step[Args] | None:
        """The nearest step with an undo, from `name` (or the end, if unknown) backwards."""
        names = [step.name for step in self.steps]
        last = names.index(name) if name in names else len(names) - 1
        return next((step for step in self.steps[last::-1] if step.undo), None)

    def before(self, name: str) -> Step[Args] | None:
        """The nearest step with an undo before `name`."""
        names = [step.name for step in self.steps]
        first = names.index(name)
        return self.undoing(names[first - 1]) if first else None

    def retry_of(self, name: str) -> Retry:
        step = self.find(name)
        return step.retry if step and step.retry else self.retry

    def prepare(self, job: Job, tools: Tools) -> Run[Args]:
        """What the job's current step is given. Fatal when the arguments do not fit the kind."""
        try:
            args = self.args.model_validate(job.args)
        except ValidationError as error:
            raise Fatal(f"the arguments do not fit {self.name}: {error}") from error
        return Run(args, job, tools)

    def host_of(self, step: Step[Args], job: Job) -> str:
        """Whose workers are to run the step."""
        return job.host if step.host is None else step.host(self.args.model_validate(job.args))

    async def effect(self, effect: Effect[Args] | None, conn: Queries, job: Job) -> None:
        """Run one of this kind's effects with the job's arguments."""
        if effect is not None:
            await effect(conn, job, self.args.model_validate(job.args))


AnyKind: TypeAlias = JobKind[Never]
AnyStep: TypeAlias = Step[Never]


class Kinds:
    """All kinds of an installation, by name."""

    def __init__(self, kinds: Iterable[AnyKind]) -> None:
        kinds = tuple(kinds)
        self.by_name = MappingProxyType({kind.name: kind for kind in kinds})
        if len(self.by_name) < len(kinds):
            raise ValueError("two job kinds have the same name")
        self.names = _array(self.by_name)
        """Of all, as the text of an array in SQL: a list would be encoded anew for each claim."""
        self.limited = _array(kind.name for kind in kinds if kind.per_account is not None)
        """Of those that an account may not run as many of as it likes."""

    def __getitem__(self, name: str) -> AnyKind:
        return self.by_name[name]


def _array(names: Iterable[str]) -> str:
    return f"{{{','.join(names)}}}"
