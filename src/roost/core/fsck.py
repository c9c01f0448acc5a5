"""What `roost fsck` is made of: checks that compare the database with the data planes.

A check belongs to the resource group that knows the rows; the composition root lists them all.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from roost.services import Services
from roost.store import Queries, Store

Service = TypeVar("Service")
Rows = TypeVar("Rows")


class UnrepairableError(Exception):
    """Drift that only a person can mend; the text says why."""


class ChangedError(UnrepairableError):
    """What was looked at is not so any more, or a job works on it."""

    def __init__(self) -> None:
        super().__init__("it has changed meanwhile")


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


@asynccontextmanager
async def unchanged(
    store: Store, read: Callable[[Queries], Awaitable[Rows | None]], rows: Rows
) -> AsyncIterator[Queries]:
    """A transaction in which `read` finds, and locks, the same rows as before. Else ChangedError.

    So a data plane is asked between two looks at the rows, while nothing is locked. Their versions
    are compared too: what was changed and changed back is not the same.
    """
    async with store.transaction() as db:
        if await read(db) != rows:
            raise ChangedError
        yield db


def unrepairable(text: str, why: str) -> Finding:
    """A finding that a repair leaves as it is."""

    async def refuse() -> str:
        raise UnrepairableError(why)

    return Finding(text, refuse)
