"""Which segments follow from which backups, whoever led the cluster meanwhile.

A restore begins an era. Where another server goes on, the era does too, on a timeline of its own.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from roost.engines.postgresql.segments import name_of, number_of, timeline_of


class Stretch(BaseModel):
    """What counts of a timeline that was left, as another server went on from there."""

    timeline: str
    last: int
    """The number of its last segment."""


class Era(BaseModel):
    """Its timeline, and until when all of it is kept."""

    timeline: str
    former: list[Stretch] = []
    """Timelines that it has gone through before."""
    began: datetime | None = None
    """None: with the database."""
    last: str = ""
    """The last segment of it."""
    marked: datetime | None = None
    """A transaction of this moment or a later one is kept."""


class Base(BaseModel):
    """Something from which later moments can be reached."""

    backup_id: int
    era: int
    first: str
    """The first segment of the era that has what the backup lacks."""
    moment: datetime | None = None
    """When it was put back; None: it was made in this era."""


class Kept(BaseModel):
    """What is known of all segments; it outlives whoever writes it."""

    eras: list[Era] = []
    bases: list[Base] = []
    next: str = ""
    """The transaction from which on nothing is kept."""
    until: datetime | None = None
    """The same as a moment."""
    change: Literal["", "goes on", "breaks off"] = ""
    """Whether another server leads since then, which has all that is kept, or may lack some."""


def _parts(base: Base, era: Era) -> list[tuple[str, int, int | None]]:
    """Of which timelines what comes after the base is, from which segment on and up to which one;
    None: up to now."""
    found: list[tuple[str, int, int | None]] = []
    number, began = number_of(base.first), timeline_of(base.first)
    for each in era.former:
        if found or each.timeline == began:
            found.append((each.timeline, number, each.last))
            number = max(number, each.last + 1)
    return [*found, (era.timeline, number, None)]


def needs(base: Base, era: Era, segment: str) -> bool:
    """Whether what comes after the base is in the segment, among others."""
    timeline, number = timeline_of(segment), number_of(segment)
    return any(
        timeline == each and first <= number and (last is None or number <= last)
        for each, first, last in _parts(base, era)
    )


def is_needed(segment: str, bases: list[Base], kept: Kept) -> bool:
    """Whether one of the bases needs it."""
    return any(needs(each, kept.eras[each.era], segment) for each in bases)


def due(base: Base, kept: Kept) -> list[str]:
    """All segments that are to be there for it."""
    era, due = kept.eras[base.era], list[str]()
    for timeline, first, last in _parts(base, era):
        if last is None and timeline_of(era.last) == timeline:
            last = number_of(era.last)
        if last is not None:
            due += [name_of(timeline, number) for number in range(first, last + 1)]
    return due
