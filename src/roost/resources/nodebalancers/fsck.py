"""`roost fsck` of NodeBalancers: what every row wants against what engines serve."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from roost.core.fsck import Finding, Installation
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.nodebalancers import apply_service, jobs, queries
from roost.resources.nodebalancers.engine import (
    BALANCER_PLANE,
    BalancerEngine,
    BalancerSpec,
    BalancerState,
)
from roost.resources.nodebalancers.locks import resource_of
from roost.resources.nodebalancers.queries import BalancerFacts
from roost.store import Queries

Drift: TypeAlias = Literal["orphan", "deleted", "resting", "missing", "other"]
_Case: TypeAlias = Case[int, BalancerFacts | None, BalancerState, Drift]

_TEXTS: Mapping[Drift, str] = {
    "orphan": "serves, but does not exist",
    "deleted": "is deleted, but no job forgets it",
    "resting": "serves, but its account is suspended",
    "missing": "does not serve",
    "other": "serves in another way",
}


async def check_nodebalancers(installation: Installation) -> AsyncIterator[Finding]:
    """Those of all regions."""
    used = {region for region, _ in await queries.engines_in_use(installation.store)}
    found = reconcilers(installation)
    async for finding in check_regions(found, "NodeBalancers", sorted(used)):
        yield finding


def reconcilers(installation: Installation) -> "dict[str, NodeBalancers]":
    """By region."""
    engines = installation.get(Engines).by_region(BALANCER_PLANE)
    return {region: NodeBalancers(installation, region, each) for region, each in engines.items()}


def compare(
    row: BalancerFacts | None, spec: BalancerSpec | None, state: BalancerState | None
) -> Drift | None:
    """The difference, while no job works on it."""
    if row is None:
        return None if state is None else "orphan"
    if row.deleting:
        return "deleted"
    if spec is None:
        return None if state is None else "resting"
    if state is None:
        return "missing"
    return None if state.digest == spec.digest else "other"


@dataclass(frozen=True, slots=True)
class NodeBalancers(Reconciler[int, BalancerFacts | None, BalancerState, Drift]):
    """Those of one region."""

    region: str
    engine: BalancerEngine

    async def held(self) -> Mapping[int, BalancerState | None]:
        return {state.id: state for state in await self.engine.list()}

    async def page(
        self, held: Mapping[int, BalancerState | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store = self.installation.store
        rows = await queries.in_region(store, self.region, after or 0, limit)
        return {row.id: bool(await self._compare(row, held.get(row.id))) for row in rows}

    async def read(self, db: Queries, key: int) -> BalancerFacts | None:
        if await self.queue.busy(db, resource_of(key)):
            raise ChangedError
        return await queries.lock_any(db, key)

    async def look(self, key: int, rows: BalancerFacts | None) -> _Case | None:
        state = await self.engine.inspect(key)
        drift = await self._compare(rows, state)
        return None if drift is None else Case(key, rows, state, drift)

    async def _compare(
        self, row: BalancerFacts | None, state: BalancerState | None
    ) -> Drift | None:
        store, services = self.installation.store, self.installation.services
        spec = None if row is None else await apply_service.wanted(store, services, row)
        return compare(row, spec, state)

    def describe(self, case: _Case) -> str:
        return f"NodeBalancer {case.key} in region {self.region} {_TEXTS[case.drift]}"

    async def mend(self, case: _Case) -> str:
        """Whoever changes the rows meanwhile brings what they say to the engine once more."""
        store, services = self.installation.store, self.installation.services
        if case.rows is None:
            await self.engine.remove(case.key)
            return "removed it"
        if case.drift == "deleted":
            await jobs.clear(store, services, case.key)
            async with self.holding(case) as db:
                await jobs.forget(case.key, services, db)
            return "forgot it"
        await apply_service.put_in_force(store, services, case.key)
        return "put in force what the database says"
