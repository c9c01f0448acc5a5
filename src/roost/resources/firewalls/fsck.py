"""`roost fsck` of firewalls: what every row wants against what engines filter by."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from roost.core.bindings import Binding
from roost.core.fsck import Finding, Installation
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.firewalls import apply_service, device_queries, queries
from roost.resources.firewalls.engine import (
    FIREWALL_PLANE,
    FirewallEngine,
    FirewallSpec,
    FirewallState,
)
from roost.resources.firewalls.locks import resource_of
from roost.resources.firewalls.queries import FirewallFacts
from roost.store import Queries

Drift: TypeAlias = Literal["orphan", "deleted", "extra", "missing", "rules", "addresses"]

_TEXTS: Mapping[Drift, str] = {
    "orphan": "filters, but does not exist",
    "deleted": "is deleted, but no job forgets it",
    "extra": "filters, but is disabled or has nothing behind it",
    "missing": "does not filter",
    "rules": "filters by other rules",
    "addresses": "filters other addresses",
}


async def check_firewalls(installation: Installation) -> AsyncIterator[Finding]:
    """Those of all regions."""
    async for finding in check_regions(reconcilers(installation), "firewalls", ()):
        yield finding


async def release_strangers(installation: Installation, firewall_id: int) -> str:
    """A firewall filters what its own account has."""
    await device_queries.release_strangers(installation.store, firewall_id)
    await apply_service.put_in_force(installation.store, installation.services, firewall_id)
    return "took the instances of others out of it"


STRANGERS = Binding(across=device_queries.ACROSS, part=release_strangers)
BALANCED_STRANGERS = Binding(across=device_queries.BALANCED_ACROSS)


def reconcilers(installation: Installation) -> "dict[str, Firewalls]":
    engines = installation.get(Engines).by_region(FIREWALL_PLANE)
    return {region: Firewalls(installation, region, each) for region, each in engines.items()}


def is_lost(case: Case[int, FirewallFacts | None, FirewallState, Drift]) -> bool:
    """Whether packets passed that the firewall would have dropped: its rules were not there, or
    not as they were written."""
    if case.drift == "missing":
        return True
    return case.drift == "rules" and case.seen is not None and case.seen.digest is None


def compare(
    row: FirewallFacts | None, spec: FirewallSpec | None, state: FirewallState | None
) -> Drift | None:
    """The difference in one region, while no job works on the firewall."""
    if row is None:
        return None if state is None else "orphan"
    if row.status == "deleted":
        return "deleted"
    if spec is None:
        return None if state is None else "extra"
    if state is None:
        return "missing"
    if state.digest != spec.rules.digest:
        return "rules"
    return None if state.fits(spec) else "addresses"


@dataclass(frozen=True, slots=True)
class Firewalls(Reconciler[int, FirewallFacts | None, FirewallState, Drift]):
    """Those of one region."""

    region: str
    engine: FirewallEngine

    async def held(self) -> Mapping[int, FirewallState | None]:
        return {state.id: state for state in await self.engine.list()}

    async def page(
        self, held: Mapping[int, FirewallState | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store = self.installation.store
        rows = await queries.in_region(store, self.region, after or 0, limit)
        return {row.id: bool(await self._compare(row, held.get(row.id))) for row in rows}

    async def read(self, db: Queries, key: int) -> FirewallFacts | None:
        if await self.queue.busy(db, resource_of(key)):
            raise ChangedError
        return await queries.lock_any(db, key)

    async def look(
        self, key: int, rows: FirewallFacts | None
    ) -> Case[int, FirewallFacts | None, FirewallState, Drift] | None:
        state = await self.engine.inspect(key)
        drift = await self._compare(rows, state)
        return None if drift is None else Case(key, rows, state, drift)

    async def _compare(
        self, row: FirewallFacts | None, state: FirewallState | None
    ) -> Drift | None:
        store, host = self.installation.store, self.installation.get(Engines).host
        specs = {} if row is None else await apply_service.wanted(store, row, host)
        return compare(row, specs.get(self.region), state)

    def describe(self, case: Case[int, FirewallFacts | None, FirewallState, Drift]) -> str:
        return f"firewall {case.key} in region {self.region} {_TEXTS[case.drift]}"

    async def mend(self, case: Case[int, FirewallFacts | None, FirewallState, Drift]) -> str:
        """Whoever changes the rows meanwhile brings what they say to the engine once more."""
        store, services = self.installation.store, self.installation.services
        if case.rows is None:
            await self.engine.remove(case.key)
            return "removed it"
        if case.drift == "extra":
            await queries.place(store, case.key, [self.region])
        await apply_service.put_in_force(store, services, case.key)
        if case.drift == "deleted":
            await queries.forget(store, case.key)
            return "forgot it"
        return "put in force what the database says"
