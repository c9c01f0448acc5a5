"""One reconciler of rows and what a data plane holds, for `roost fsck` and for watches.

Rows are read page by page and compared with what the engine has listed. What seems to differ is
looked at closely: its rows are read, the engine is asked while nothing is locked, and the
difference counts, and is mended, as long as the rows stay what they were.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from roost.core.engine import EngineError
from roost.core.fsck import Finding, Installation, UnrepairableError, unrepairable
from roost.jobs.queue import JobQueue
from roost.store import Queries

PAGE = 1000
"""Rows that are read at once."""
ROUNDS = 20
"""One repair may show the next difference: a status that is set may lack its guest, or a disk."""

Key = TypeVar("Key", int, str)
Rows = TypeVar("Rows")
Seen = TypeVar("Seen")
Drift = TypeVar("Drift")


class ChangedError(UnrepairableError):
    """What was looked at is not so any more, or a job works on it."""

    def __init__(self) -> None:
        super().__init__("it has changed meanwhile")


@dataclass(frozen=True, slots=True)
class Case(Generic[Key, Rows, Seen, Drift]):
    """A difference, as long as the rows do not change."""

    key: Key
    rows: Rows
    seen: Seen | None
    """What the engine has; None for nothing."""
    drift: Drift


@dataclass(frozen=True, slots=True)
class Reconciler(ABC, Generic[Key, Rows, Seen, Drift]):
    """What a group tells of its rows and of one engine that holds something for them.

    All that asks the engine may raise EngineError.
    """

    installation: Installation

    @property
    def queue(self) -> JobQueue:
        return self.installation.get(JobQueue)

    @abstractmethod
    async def held(self) -> Mapping[Key, Seen | None]:
        """All that the engine has, with its state when the list tells that."""

    @abstractmethod
    async def page(
        self, held: Mapping[Key, Seen | None], after: Key | None, limit: int
    ) -> Mapping[Key, bool]:
        """The next keys of rows, in the order of `after`; True for what a closer look is due."""

    @abstractmethod
    async def read(self, db: Queries, key: Key) -> Rows:
        """The rows, locked. ChangedError while a job works on them.

        Their versions belong to them: what was changed and changed back is not the same.
        """

    @abstractmethod
    async def look(self, key: Key, rows: Rows) -> Case[Key, Rows, Seen, Drift] | None:
        """Compare the rows with what the engine has. Nothing is locked."""

    @abstractmethod
    def describe(self, case: Case[Key, Rows, Seen, Drift]) -> str:
        """The difference in plain words."""

    @abstractmethod
    async def mend(self, case: Case[Key, Rows, Seen, Drift]) -> str:
        """End the difference, and say how. UnrepairableError when only a person can.

        It asks the engine for something only while it holds no rows.
        """

    async def findings(self, what: str) -> AsyncIterator[Finding]:
        """All differences of `what`, such as `region us-lake: its volumes`."""
        try:
            async for key in self.suspects():
                case = await self.confirmed(key)
                if case is not None:
                    yield Finding(self.describe(case), partial(self._repair, key))
        except EngineError as error:
            yield unrepairable(f"{what} cannot be seen", str(error))

    async def suspects(self) -> AsyncIterator[Key]:
        """What deserves a close look.

        What the engine has is listed before rows, as a row is there before that.
        """
        held = await self.held()
        orphans, after = set(held), None
        while page := await self.page(held, after, PAGE):
            for after, suspect in page.items():
                orphans.discard(after)
                if suspect:
                    yield after
        for key in sorted(orphans):
            yield key

    async def mend_each(
        self,
    ) -> AsyncIterator[tuple[Case[Key, Rows, Seen, Drift], EngineError | None]]:
        """A round of a watch: all differences of this moment are ended, each as it is given.

        What an engine does not do is given with its fault, and keeps no other waiting. What rows
        say is left alone while a job works on them. Raises EngineError when nothing can be seen.
        """
        async for key in self.suspects():
            with suppress(ChangedError):
                case = await self.examine(key)
                if case is None:
                    continue
                fault = None
                try:
                    await self.mend(case)
                except EngineError as error:
                    fault = error
                yield case, fault

    async def examine(self, key: Key) -> Case[Key, Rows, Seen, Drift] | None:
        """A close look; None when all is well. ChangedError while a job works on it."""
        async with self.installation.store.transaction() as db:
            rows = await self.read(db, key)
        return await self.look(key, rows)

    async def confirmed(self, key: Key) -> Case[Key, Rows, Seen, Drift] | None:
        """The case once more under locks; None when all is well, and while a job works on it."""
        with suppress(ChangedError):
            case = await self.examine(key)
            if case is not None:
                async with self.holding(case):
                    return case
        return None

    @asynccontextmanager
    async def holding(self, case: Case[Key, Rows, Seen, Drift]) -> AsyncIterator[Queries]:
        """A transaction until whose end the rows are those of the case. Else ChangedError."""
        async with self.installation.store.transaction() as db:
            if await self.read(db, case.key) != case.rows:
                raise ChangedError
            yield db

    async def _repair(self, key: Key) -> str:
        done: list[str] = []
        for _ in range(ROUNDS):
            case = await self.confirmed(key)
            if case is None:
                break
            done.append(await self.mend(case))
        return ", ".join(done) or "it is well by now"


async def check_regions(
    reconcilers: Mapping[str, Reconciler[Key, Rows, Seen, Drift]],
    what: str,
    used: Iterable[str],
) -> AsyncIterator[Finding]:
    """All differences of every region, and regions in use that no engine serves."""
    for region, reconciler in reconcilers.items():
        async for finding in reconciler.findings(f"region {region}: its {what}"):
            yield finding
    for region in used:
        if region not in reconcilers:
            text = f"region {region}: it has {what}, but is not in the catalogue"
            yield unrepairable(text, "add it to the catalogue")
