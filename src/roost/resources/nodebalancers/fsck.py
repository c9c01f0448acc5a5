"""`roost fsck` of NodeBalancers: what every row wants against what engines serve."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from roost.core.fsck import Finding, Installation
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.nodebalancers import apply_service, jobs, move_jobs, queries
from roost.resources.nodebalancers.engine import (
    BALANCER_PLANE,
    BalancerEngine,
    BalancerSpec,
    BalancerState,
)
from roost.resources.nodebalancers.locks import left_on, resource_of
from roost.resources.nodebalancers.neighbours import BalancerFirewalls
from roost.resources.nodebalancers.queries import BalancerFacts
from roost.store import Queries

Drift: TypeAlias = Literal["orphan", "abroad", "deleted", "resting", "missing", "other"]
_Case: TypeAlias = Case[int, BalancerFacts | None, BalancerState, Drift]

_TEXTS: Mapping[Drift, str] = {
    "orphan": "serves, but does not exist",
    "abroad": "is to be dropped here, as it is on another host",
    "deleted": "is deleted, but no job forgets it",
    "resting": "serves, but its account is suspended",
    "missing": "does not serve",
    "other": "serves in another way",
}


async def check_nodebalancers(installation: Installation) -> AsyncIterator[Finding]:
    """Those of all regions, on this host."""
    used = {region for region, _ in await queries.engines_in_use(installation.store)}
    found = reconcilers(installation)
    async for finding in check_regions(found, "NodeBalancers", sorted(used)):
        yield finding


def reconcilers(installation: Installation) -> "dict[str, NodeBalancers]":
    """By region."""
    engines = installation.get(Engines).by_region(BALANCER_PLANE)
    return {region: NodeBalancers(installation, region, each) for region, each in engines.items()}


def compare(
    row: BalancerFacts | None, host: str, spec: BalancerSpec | None, state: BalancerState | None
) -> Drift | None:
    """The difference on a host, while no job works on it."""
    if row is None:
        return None if state is None else "orphan"
    if row.host != host:
        return None if state is None and row.left_host != host else "abroad"
    if row.deleting:  # Where it was before a move, it ends first.
        return "deleted" if row.left_host is None else None
    if spec is None:
        return None if state is None else "resting"
    if state is None:
        return "missing"
    return None if state.digest == spec.digest else "other"


@dataclass(frozen=True, slots=True)
class NodeBalancers(Reconciler[int, BalancerFacts | None, BalancerState, Drift]):
    """Those of one region on this host."""

    region: str
    engine: BalancerEngine

    @property
    def host(self) -> str:
        """On which the engine is."""
        return self.installation.get(Engines).host

    async def held(self) -> Mapping[int, BalancerState | None]:
        return {state.id: state for state in await self.engine.list()}

    async def page(
        self, held: Mapping[int, BalancerState | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store = self.installation.store
        rows = await queries.on_host(store, self.region, self.host, after or 0, limit)
        return {row.id: bool(await self._compare(row, held.get(row.id))) for row in rows}

    async def read(self, db: Queries, key: int) -> BalancerFacts | None:
        row = await queries.lock_any(db, key)
        jobs_of_it = await self.queue.unfinished(db, resource_of(key), left_on(key, self.host))
        if row is not None and row.left_host == self.host:  # For which a deletion waits.
            jobs_of_it = [each for each in jobs_of_it if each.kind != jobs.DELETE.name]
        if jobs_of_it:
            raise ChangedError
        return row

    async def look(self, key: int, rows: BalancerFacts | None) -> _Case | None:
        state = await self.engine.inspect(key)
        drift = await self._compare(rows, state)
        return None if drift is None else Case(key, rows, state, drift)

    async def _compare(
        self, row: BalancerFacts | None, state: BalancerState | None
    ) -> Drift | None:
        store, services = self.installation.store, self.installation.services
        spec = None if row is None else await apply_service.wanted(store, services, row)
        return compare(row, self.host, spec, state)

    def describe(self, case: _Case) -> str:
        return f"NodeBalancer {case.key} in region {self.region} {_TEXTS[case.drift]}"

    async def mend(self, case: _Case) -> str:
        """Whoever changes the rows meanwhile brings what they say to the engine once more."""
        store, services = self.installation.store, self.installation.services
        if case.rows is None:
            await self.engine.remove(case.key)
            return "removed it"
        if case.drift == "abroad":
            await self.engine.remove(case.key)
            async with store.transaction() as db:
                await move_jobs.leave(db, case.key, self.host)
            await services.get(BalancerFirewalls).settle_balancer(store, services, case.key)
            return "removed it here"
        if case.drift == "deleted":
            await jobs.clear(store, services, case.key)
            async with self.holding(case) as db:
                await jobs.forget(case.key, services, db)
            return "forgot it"
        if case.drift == "missing":  # What filters it, is there before it.
            await services.get(BalancerFirewalls).settle_balancer(store, services, case.key)
        await apply_service.put_in_force(store, services, case.key)
        return "put in force what the database says"
