"""The lab of a server: time, and how its simulated engines behave."""

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import get_args

from pydantic import JsonValue

from roost.app.groups import GROUPS
from roost.app.lab.bodies import PlanJobFault
from roost.app.terminal import Shown
from roost.dashboard.desk import Desk
from roost.dashboard.page import Act, Input, Page, Sent
from roost.dashboard.parts import AbsentError, Asked, Part, Record, Table
from roost.engines.simulated.domains import DomainOperation
from roost.engines.simulated.plane import Operation
from roost.errors import OperatorError

_LEAPS: Mapping[str, timedelta] = {
    "An hour": timedelta(hours=1),
    "A day": timedelta(days=1),
    "A week": timedelta(weeks=1),
    "30 days": timedelta(days=30),
    "A year": timedelta(days=365),
}
_STEPS = tuple(sorted(f"{kind.name}: {step.name}" for kind in GROUPS.jobs for step in kind.steps))
_POINTS = get_args(PlanJobFault.model_fields["point"].annotation)
_EFFECTS = get_args(PlanJobFault.model_fields["effect"].annotation)
_ALL = "all"
_NO, _YES = "no", "yes"
_MOST_MESSAGES = 100
_EXACT = 2**53
"""Whole numbers below it are what was typed, and fit into JSON."""
_REASON = Input("reason", "Reason, as the failed event says it", value="A fault planned in the lab")


async def _lab(desk: Desk, _asked: Asked) -> Sequence[Part]:
    clock, faults = await desk.lab.clock(), await desk.lab.faults()
    planned = [*faults["engines"]]
    messages = (await desk.lab.messages())["messages"][-_MOST_MESSAGES:]
    ahead = timedelta(seconds=round(clock["offset_seconds"]))
    return (
        Record("Time", {"now": clock["now"], "ahead of real time by": str(ahead)}),
        Table("Regions", await _places(desk), ("region", "simulated", "real"), ("/lab/", "leads")),
        Table(
            "Faults of engines",
            [{**each, "times": _times(each["times"])} for each in planned],
            ("region", "operation", "reason", "times"),
            ("/lab/", "region"),
        ),
        Table(
            "Faults of jobs",
            [{**each} for each in faults["jobs"]],
            ("kind", "step", "point", "undo", "times"),
        ),
        Table("Text messages that were sent", [{**each} for each in messages], ("number", "text")),
    )


async def _places(desk: Desk) -> list[Shown]:
    """What is simulated and what is real in each region; planes that serve all have their own."""
    found = (await desk.lab.engines())["engines"]
    steered = {each["region"] for each in (await desk.lab.latency())["latency"]}
    rows = list[Shown]()
    for region in dict.fromkeys(each["region"] for each in found):
        planes: dict[str, list[str]] = {"simulated": [], "real": []}
        for each in found:
            if each["region"] == region:
                planes[each["kind"]].append(each["plane"])
        leads = region if region in steered else None
        rows.append({"region": region, **planes, "leads": leads})
    return rows


def _times(times: int | None) -> str:
    return "each time" if times is None else str(times)


async def _leap(desk: Desk, _asked: Asked, sent: Sent) -> None:
    await desk.lab.change("PUT", "/clock", {"advance": _LEAPS[sent["by"]].total_seconds()})


async def _set(desk: Desk, _asked: Asked, sent: Sent) -> None:
    await desk.lab.change("PUT", "/clock", {"now": sent["to"]})


async def _fail_job(desk: Desk, _asked: Asked, sent: Sent) -> None:
    kind, _, step = sent["step"].partition(": ")
    body: dict[str, JsonValue] = {
        "kind": kind,
        "step": step,
        "undo": sent["undo"] == _YES,
        **{name: sent[name] for name in ("point", "effect", "reason")},
        "times": _number("Times", sent["times"]),
    }
    await desk.lab.change("POST", "/faults/jobs", body)


async def _mend(desk: Desk, _asked: Asked, _sent: Sent) -> None:
    await desk.lab.change("DELETE", "/faults")


async def _slow_all(desk: Desk, _asked: Asked, sent: Sent) -> None:
    body = {"seconds": _number("Seconds", sent["seconds"])}
    await desk.lab.change("PUT", "/latency", body)


def _number(title: str, text: str) -> float:
    """Raises OperatorError."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise OperatorError(f"{title}: must be a number")
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def _region_of(asked: Asked) -> str:
    return asked.params.get("region", "dns")


async def _region(desk: Desk, asked: Asked) -> Sequence[Part]:
    region = _region_of(asked)
    latencies = [each for each in (await desk.lab.latency())["latency"] if each["region"] == region]
    if not latencies:
        raise AbsentError(f"There is no region {region} with simulated engines.")
    faults = {
        each["operation"]: each
        for each in (await desk.lab.faults())["engines"]
        if each["region"] == region
    }
    rows = list[Shown]()
    for each in latencies:
        fault = faults.get(each["operation"])
        fails = None if fault is None else _times(fault["times"])
        reason = None if fault is None else fault["reason"]
        named = {"operation": each["operation"], "seconds": each["seconds"]}
        rows.append({**named, "fails": fails, "reason": reason})
    return (Table("", rows, ("operation", "seconds", "fails", "reason")),)


async def _slow(desk: Desk, asked: Asked, sent: Sent) -> None:
    operation = None if sent["operation"] == _ALL else sent["operation"]
    seconds = _number("Seconds", sent["seconds"])
    body: dict[str, JsonValue] = {"region": _region_of(asked), "operation": operation}
    await desk.lab.change("PUT", "/latency", {**body, "seconds": seconds})


async def _fail(desk: Desk, asked: Asked, sent: Sent) -> None:
    times = None if sent["always"] == _YES else _number("Times", sent["times"])
    body: dict[str, JsonValue] = {"region": _region_of(asked), "operation": sent["operation"]}
    await desk.lab.change(
        "POST", "/faults/engines", {**body, "reason": sent["reason"], "times": times}
    )


def _of_region(path: str, title: str, operations: Sequence[str]) -> Page:
    seconds = Input("seconds", "Seconds, of 0 to 3600", value="0")
    return Page(
        path,
        title,
        _region,
        lead="How long operations of these simulated engines take, and which fail.",
        acts=(
            Act(
                "latency",
                "Set the latency",
                "From the next call on.",
                _slow,
                (Input("operation", "Operation", (_ALL, *operations), _ALL), seconds),
            ),
            Act(
                "fault",
                "Let an operation fail",
                "A job tries a step several times before it fails: what fails once only delays.",
                _fail,
                (
                    Input("operation", "Operation", operations),
                    Input("always", "Each time, until faults are dropped", (_NO, _YES), _NO),
                    Input("times", "Times, otherwise", value="1"),
                    _REASON,
                ),
            ),
            Act("mend", "Drop all faults", "Of all engines and jobs.", _mend),
        ),
    )


PAGES = (
    Page(
        "/lab",
        "Lab",
        _lab,
        lead="The server runs with `--lab`: its time can be moved, and its simulated engines fail.",
        acts=(
            Act(
                "leap",
                "Move the clock",
                "What becomes due runs at once. The clock only moves forwards.",
                _leap,
                (Input("by", "Forwards by", tuple(_LEAPS), are_buttons=True),),
            ),
            Act(
                "set",
                "Set the clock",
                "UTC, unless it names an offset.",
                _set,
                (Input("to", "Time, such as 2030-01-31T12:00:00"),),
            ),
            Act(
                "latency",
                "Set the latency of all simulated engines",
                "Of one region or one operation: open the region above.",
                _slow_all,
                (Input("seconds", "Seconds, of 0 to 3600", value="0"),),
            ),
            Act(
                "fault",
                "Let a job fail",
                "With `crash`, its worker forgets it there as if it had been killed, and it goes "
                "on when its lease is over.",
                _fail_job,
                (
                    Input("step", "Kind of job, and step", _STEPS),
                    Input("undo", "When the step is undone", (_NO, _YES), _NO),
                    Input("point", "Point", _POINTS),
                    Input("effect", "Effect", _EFFECTS),
                    Input("times", "Times", value="1"),
                    _REASON,
                ),
            ),
            Act("mend", "Drop all faults", "Of all engines and jobs.", _mend),
        ),
        in_menu=True,
    ),
    _of_region("/lab/dns", "Simulated name server", get_args(DomainOperation)),
    _of_region("/lab/{region}", "Simulated engines of {region}", get_args(Operation)),
)
