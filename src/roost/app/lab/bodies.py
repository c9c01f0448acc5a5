"""What the routes of the lab are sent."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, PlainSerializer

from roost.engines.simulated.domains import DomainOperation
from roost.engines.simulated.plane import Operation
from roost.web.bodies import Body
from roost.web.fields import Between, Length, ShortText, refuse

_CENTURIES = 10**11
"""Seconds."""
_TIME_CHARACTERS = 40


def _read_time(text: object) -> datetime:
    try:
        if not isinstance(text, str) or len(text) > _TIME_CHARACTERS:
            raise ValueError(text)
        time = datetime.fromisoformat(text)
    except ValueError:
        raise refuse("Must be a time such as 2030-01-31T12:00:00") from None
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)


EngineOperation = Literal[Operation, DomainOperation]
Time = Annotated[datetime, BeforeValidator(_read_time), PlainSerializer(datetime.isoformat)]
Reason = Annotated[str, Length(1, 1000)]


class MoveClock(Body):
    """Exactly one of both. `now` is UTC unless it names an offset; `advance` is in seconds."""

    now: Time | None = None
    advance: Annotated[float, Between(0, _CENTURIES)] | None = None


class SetLatency(Body):
    """Seconds that an operation takes; null for all regions, or for all operations.

    The name server is the region `dns`.
    """

    region: ShortText | None = None
    operation: EngineOperation | None = None
    seconds: Annotated[float, Between(0, 3600)]


class PlanEngineFault(Body):
    """Let the next `times` calls of an operation fail, or every call when null."""

    region: ShortText
    operation: EngineOperation
    reason: Reason = "A fault planned in the lab"
    times: Annotated[int, Between(1, 1_000_000)] | None = 1


class PlanJobFault(Body):
    """Let a job fail at a boundary of a step (or its undo), or its worker forget it there."""

    kind: ShortText
    step: ShortText
    point: Literal["before_step", "before_commit", "after_commit"] = "before_step"
    undo: bool = False
    effect: Literal["fail", "crash"] = "fail"
    reason: Reason = "A fault planned in the lab"
    times: Annotated[int, Between(1, 1_000_000)] = 1
