"""What is wrong at this moment and operators have to know, as each group sees it.

A group declares its watches in its `conditions.py` and its manifest. They are asked every minute,
outside of any transaction.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import structlog

from roost.core.context import Context

MOST = 100
"""Conditions of one kind that hold at the same time; of more, operators know enough."""

Severity = Literal["warning", "critical"]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is wrong with a subject: one of a kind at a time."""

    kind: str
    subject: str
    severity: Severity
    text: str
    """For people, whole sentences."""
    patience: timedelta = timedelta()
    """How long it has to hold before it is worth a letter."""


@dataclass(frozen=True, slots=True)
class Watch:
    """All conditions of some kinds, in an order that lasts while they do."""

    kinds: tuple[str, ...]
    look: Callable[[Context], Awaitable[Sequence[Condition]]]


@dataclass(frozen=True, slots=True)
class Found:
    conditions: tuple[Condition, ...]
    kinds: tuple[str, ...]
    """Those that could be seen: of others nothing is known."""


class Watches:
    """All watches of an installation."""

    def __init__(self, *watches: Watch) -> None:
        self._watches = watches

    async def look(self, context: Context) -> Found:
        """At everything. A watch that fails keeps nobody from seeing what others see."""
        conditions, kinds = list[Condition](), list[str]()
        for watch in self._watches:
            try:
                found = await watch.look(context)
            except Exception:
                _log.exception("conditions_unseen", kinds=watch.kinds)
                continue
            kinds += watch.kinds
            for kind in watch.kinds:
                conditions += [each for each in found if each.kind == kind][:MOST]
        return Found(tuple(conditions), tuple(kinds))
