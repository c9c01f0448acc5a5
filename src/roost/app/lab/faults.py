"""Planned faults of job steps in this process."""

from functools import partial

from typing_extensions import TypedDict

from roost.app.lab.bodies import PlanJobFault
from roost.errors import invalid
from roost.jobs.faults import Boundary, Crash, Fault, Faults, Point
from roost.jobs.kinds import AnyKind, AnyStep, Kinds
from roost.jobs.verdicts import Fatal


class JobFaultRow(TypedDict):
    """`times` is how many more jobs it strikes."""

    kind: str
    step: str
    point: str
    undo: bool
    times: int


def list_faults(faults: Faults) -> list[JobFaultRow]:
    return [
        {
            "kind": boundary.kind,
            "step": boundary.step,
            "point": boundary.point.name.lower(),
            "undo": boundary.undo,
            "times": times,
        }
        for boundary, times in faults.pending().items()
    ]


def plan_fault(faults: Faults, kinds: Kinds, body: PlanJobFault) -> None:
    """ApiError 400 for a boundary that no job reaches."""
    step = _step(_kind(kinds, body.kind), body.step)
    if body.undo and step.undo is None:
        raise invalid(f"The step {step.name} has no undo", "undo")
    point = Point[body.point.upper()]
    if point is Point.AFTER_COMMIT and body.effect == "fail":
        raise invalid("After its commit a step cannot fail, only crash", "effect")
    fault: Fault = Crash if body.effect == "crash" else partial(Fatal, body.reason)
    faults.plan(Boundary(body.kind, step.name, point, body.undo), fault, body.times)


def _kind(kinds: Kinds, name: str) -> AnyKind:
    kind = kinds.by_name.get(name)
    if kind is None:
        raise invalid("Must be one of " + ", ".join(sorted(kinds.by_name)), "kind")
    return kind


def _step(kind: AnyKind, name: str) -> AnyStep:
    step = kind.find(name)
    if step is None:
        raise invalid("Must be one of " + ", ".join(step.name for step in kind.steps), "step")
    return step
