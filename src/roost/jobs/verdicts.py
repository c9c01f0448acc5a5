"""How a step ends: an explicit verb, or an exception (retried) or Fatal (not retried)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeAlias

from pydantic import JsonValue

from roost.errors import ShownError
from roost.store import Queries

P = ParamSpec("P")

JsonObject: TypeAlias = Mapping[str, JsonValue]

Write: TypeAlias = Callable[[Queries], Awaitable[None]]
"""Rows to change in the transaction that commits the step; it uses no other connection."""


def writing(
    statement: Callable[Concatenate[Queries, P], Awaitable[object]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Write:
    """One statement, with all that it needs but the transaction."""

    async def write(db: Queries) -> None:
        await statement(db, *args, **kwargs)

    return write


class Fatal(ShownError):  # noqa: N818 - a verdict, not a mishap
    """The step cannot succeed: the job fails now, with this text as its reason."""


@dataclass(frozen=True, slots=True)
class Next:
    write: Write | None
    result: JsonObject | None


@dataclass(frozen=True, slots=True)
class Again:
    after: float
    write: Write | None
    attempted: bool = True
    """False when the step did no more than wait, so that its failures go on counting."""


@dataclass(frozen=True, slots=True)
class Done:
    write: Write | None


@dataclass(frozen=True, slots=True)
class Fail:
    reason: str


Verdict: TypeAlias = Next | Again | Done | Fail


def next_step(write: Write | None = None, *, result: JsonObject | None = None) -> Verdict:
    """Go on with the next step, or end the job well after the last one.

    `result` is kept for later steps and for undos, under the step's name.
    """
    return Next(write, result)


def again(after: float, write: Write | None = None) -> Verdict:
    """Run this step again in `after` seconds of the clock. Not a failure."""
    if after < 0:
        raise ValueError("a step cannot wait for less than nothing")
    return Again(after, write)


def done(write: Write | None = None) -> Verdict:
    """End the job well, whatever steps are left; in an undo: skip the undos that are left."""
    return Done(write)


def fail(reason: str) -> Verdict:
    """Fail the job without another attempt."""
    return Fail(reason)
