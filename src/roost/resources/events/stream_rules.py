"""What a stream of events is asked for, and how it is written (WHATWG HTML, 9.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from roost.errors import ApiError, Problem, invalid, invalid_fields
from roost.resources.events.records import EventStatus

QUERY = {
    "action": "Only events of these actions, such as `compute_boot`, with commas between them.",
    "entity_id": "Only events about the things with these ids, with commas between them.",
    "entity_type": "Only events about things of these types, such as `volume`, with commas between "
    "them.",
    "status": "Only events while they have one of these statuses, with commas between them.",
    "seconds": "End the stream after so many seconds, 0 to 86400. With 0 the answer is what has "
    "happened since `Last-Event-ID`, and ends there. Without it the stream goes on.",
}
LAST_ID = "Last-Event-ID"
MOST_SECONDS = 86400

_STATUSES = frozenset(get_args(EventStatus))
_MAX_POSITION = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Shown:
    """An event as its stream shows it."""

    id: int
    action: str
    status: str
    entity_type: str | None
    entity_id: str | None
    record: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events; None for all."""

    actions: frozenset[str] | None
    entity_ids: frozenset[str] | None
    entity_types: frozenset[str] | None
    statuses: frozenset[str] | None

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Wanted":
        """ApiError 400 for every parameter that names nothing."""
        problems: list[Problem] = []

        def names(parameter: str) -> frozenset[str] | None:
            if parameter not in query:
                return None
            found = frozenset(each.strip() for each in query[parameter].split(","))
            if "" in found:
                problems.append(Problem("Must be names with commas between them", parameter))
            return found

        wanted = cls(*map(names, ("action", "entity_id", "entity_type", "status")))
        if wanted.statuses is not None and wanted.statuses - _STATUSES - {""}:
            listed = ", ".join(get_args(EventStatus))
            problems.append(Problem(f"Must be one of {listed}", "status"))
        if problems:
            raise invalid_fields(problems)
        return wanted

    def takes(self, event: Shown) -> bool:
        return (
            (self.actions is None or event.action in self.actions)
            and (self.entity_ids is None or event.entity_id in self.entity_ids)
            and (self.entity_types is None or event.entity_type in self.entity_types)
            and (self.statuses is None or event.status in self.statuses)
        )


def parse_seconds(query: Mapping[str, str]) -> int | None:
    """ApiError 400 for what is no number of seconds up to a day."""
    text = query.get("seconds")
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= MOST_SECONDS):
        raise invalid(f"Must be 0-{MOST_SECONDS}", "seconds")
    return int(text)


def parse_last_id(text: str | None) -> int | None:
    """ApiError 400 for what no stream has given."""
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 19):
        raise invalid("Must be an id of a stream of events", LAST_ID)
    return min(int(text), _MAX_POSITION)


def too_many() -> ApiError:
    return ApiError(429, [Problem("Too many streams at once")], ((b"retry-after", b"30"),))


OPENING = b"retry: 3000\n"
"""Milliseconds after which a client comes back."""


def mark(position: int) -> bytes:
    """What tells a client how far it is, and that the stream lives."""
    return b"id: %d\n\n" % position


def message(position: int, event: Shown) -> bytes:
    return b"id: %d\ndata: %b\n\n" % (position, event.record.encode())


def reset(position: int) -> bytes:
    """What a client has read is of another past, such as before a backup was restored."""
    return b"id: %d\nevent: reset\ndata: {}\n\n" % position
