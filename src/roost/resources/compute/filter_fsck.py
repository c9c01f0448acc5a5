"""`roost fsck` of what running guests may send and get, against what their instances have."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from roost.core import instance_queries
from roost.core.addresses import share_queries
from roost.core.fsck import Finding, Installation
from roost.core.instance_queries import InstanceFacts
from roost.core.planes import Engines
from roost.core.reconcile import Case, ChangedError, Reconciler, check_regions
from roost.resources.compute import filter_service
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.resources.compute.filter_service import Wanted
from roost.resources.compute.locks import resource_of
from roost.resources.compute.network_engine import GuestAddresses
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class _Rows:
    facts: InstanceFacts
    wanted: Wanted


_Case: TypeAlias = Case[int, _Rows | None, GuestAddresses, str]

_LOST = "has lost its filter, a counter, or a route to it"


async def check_filters(installation: Installation) -> AsyncIterator[Finding]:
    """Those of all regions."""
    async for finding in check_regions(reconcilers(installation), "filters of guests", ()):
        yield finding


def reconcilers(installation: Installation) -> "dict[str, Filters]":
    engines = installation.get(Engines).by_region(INSTANCE_PLANE)
    return {region: Filters(installation, region, each) for region, each in engines.items()}


@dataclass(frozen=True, slots=True)
class Filters(Reconciler[int, _Rows | None, GuestAddresses, str]):
    """Those of one region. Guests without an instance are compute's own check's."""

    region: str
    engine: InstanceEngine

    async def held(self) -> Mapping[int, GuestAddresses | None]:
        return await self.engine.addresses.list()

    async def page(
        self, held: Mapping[int, GuestAddresses | None], after: int | None, limit: int
    ) -> Mapping[int, bool]:
        store, first = self.installation.store, after or 0
        host = self.installation.get(Engines).host
        rows = await instance_queries.on_host(store, self.region, host, first, limit)
        late = await share_queries.all_leaving(store, first, rows[-1].id if rows else None)
        running = [row for row in rows if row.id in held]
        wanted = await filter_service.all_wanted(store, self.installation.services, running)
        differ = {row.id for row in running if _difference(_Rows(row, wanted[row.id]), held)}
        return {row.id: row.id in late or row.id in differ for row in rows}

    async def read(self, db: Queries, key: int) -> _Rows | None:
        facts = await instance_queries.lock_any(db, key)
        if facts is None or facts.status == "deleting":
            return None
        if facts.host != self.installation.get(Engines).host:
            raise ChangedError
        if await self.queue.busy(db, resource_of(key)):
            raise ChangedError
        return _Rows(facts, await filter_service.wanted(db, self.installation.services, facts))

    async def look(self, key: int, rows: _Rows | None) -> _Case | None:
        running = await self.engine.addresses.list()
        text = None if rows is None else _difference(rows, running)
        return None if text is None else Case(key, rows, running.get(key), text)

    def describe(self, case: _Case) -> str:
        return f"instance {case.key} in region {self.region} {case.drift}"

    async def mend(self, case: _Case) -> str:
        """Whoever changes the rows meanwhile brings what they say to the engine once more."""
        if case.rows is None:
            raise ChangedError
        store, services = self.installation.store, self.installation.services
        left = await filter_service.bring(store, services, case.rows.facts)
        await share_queries.has_left(store, left)
        return "brought it what the database says"


def is_lost(case: _Case) -> bool:
    """Whether the guest may have sent in the name of others, as its filter was gone."""
    return case.seen is None and case.drift == _LOST


def _difference(rows: _Rows, running: Mapping[int, GuestAddresses | None]) -> str | None:
    key = rows.facts.id
    if rows.wanted.leaving:
        return "may still use addresses that it has lost"
    if key not in running:
        return None
    held = running[key]
    if held is None:
        return _LOST
    wanted = rows.wanted.beside(held)
    if held == wanted or not held.has_any:
        return None
    return f"uses {_words(held)} instead of {_words(wanted)}"


def _words(guest: GuestAddresses) -> str:
    found = [
        *sorted(guest.ipv4 | guest.shared),
        *([guest.ipv6] if guest.ipv6 else []),
        *sorted(guest.ranges | guest.shared_ranges),
    ]
    return ", ".join(map(str, found)) or "no addresses"
