"""What `roost fsck` is made of: checks that compare the database with the data planes.

A check belongs to the resource group that knows the rows; the composition root lists them all.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from roost.services import Services
from roost.store import Store

Service = TypeVar("Service")


class UnrepairableError(Exception):
    """Drift that only a person can mend; the text says why."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What a check looks at."""

    store: Store
    services: Services

    def get(self, kind: type[Service]) -> Service:
        return self.services.get(kind)


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference, in plain words.

    `repair` looks again, mends what is still wrong and says what it did. It raises
    UnrepairableError, or the data plane's own error.
    """

    text: str
    repair: Callable[[], Awaitable[str]]


Check: TypeAlias = Callable[[Installation], AsyncIterator[Finding]]
"""Finds drift and changes nothing. What a job is working on is not drift."""


def unrepairable(text: str, why: str) -> Finding:
    """A finding that a repair leaves as it is."""

    async def refuse() -> str:
        raise UnrepairableError(why)

    return Finding(text, refuse)
