"""`roost fsck` of domains: every zone, record by record, and zones that nobody has."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import dns.exception
import dns.rdata
import dns.rdataclass
import dns.rdatatype

from roost.core.fsck import Finding, Installation
from roost.core.reconcile import Case, ChangedError, Reconciler
from roost.resources.domains import jobs, queries, rules
from roost.resources.domains.engine import (
    Master,
    RRset,
    Slave,
    Zone,
)
from roost.resources.domains.jobs import resource_of
from roost.resources.domains.name_rules import absolute
from roost.resources.domains.queries import DomainFacts
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_service import owner_of, zone_of
from roost.store import Queries

_Contents = dict[tuple[str, str], tuple[int, frozenset[str]]]


def differences(wanted: Zone, found: Zone | None) -> list[str]:
    """In words, the zone's name left out; [] when there are none."""
    if found is None:
        return ["the name server does not have it"]
    return list(_differences(wanted, found))


def _differences(wanted: Zone, found: Zone) -> Iterator[str]:
    if found.owner != wanted.owner:
        yield f"it is that of {found.owner} instead of {wanted.owner}"
    if found.active != wanted.active:
        yield "it is served" if found.active else "it is not served"
    if not wanted.active:
        return
    if sorted(found.axfr_ips) != sorted(wanted.axfr_ips):
        yield "other addresses may transfer it"
    match wanted.content, found.content:
        case Master() as master, Master() as held:
            yield from _compare_masters(master, held)
        case Slave() as slave, Slave() as held_slave:
            if slave != held_slave:
                yield "it follows other masters"
        case _:
            yield "it is of another type"


def _compare_masters(wanted: Master, found: Master) -> Iterator[str]:
    if wanted.soa != found.soa:
        yield "its SOA is another"
    if wanted.dnssec != found.dnssec:
        yield "it is signed" if found.dnssec else "it is not signed"
    should, does = _contents(wanted.rrsets), _contents(found.rrsets)
    for key in sorted(should.keys() | does.keys()):
        if should.get(key) == does.get(key):
            continue
        name = " ".join(key)
        if key not in does:
            yield f"{name} is missing"
        elif key not in should:
            yield f"{name} does not belong there"
        else:
            yield f"{name} is wrong"


def _contents(rrsets: Iterable[RRset]) -> _Contents:
    return {
        (rrset.name.lower(), rrset.type): (
            rrset.ttl,
            frozenset(canonical(rrset.type, content) for content in rrset.contents),
        )
        for rrset in rrsets
    }


def canonical(kind: str, content: str) -> str:
    """The one way to write a record's content; what cannot be read stays as it is."""
    try:
        rdata = dns.rdata.from_text(
            dns.rdataclass.IN, dns.rdatatype.from_text(kind), content, relativize=False
        )
    except dns.exception.DNSException:
        return content
    return rdata.to_text() if kind in ("TXT", "CAA") else rdata.to_text().lower()


_LISTED = 10
"""How many differences of one zone are listed."""


async def check_zones(installation: Installation) -> AsyncIterator[Finding]:
    """Zones and domains of all accounts."""
    zones = _Zones(installation, installation.get(Dns))
    async for finding in zones.findings("the zones of domains"):
        yield finding


def is_of_a_domain(owner: str) -> bool:
    """Whether the owner of a zone is a domain, perhaps one that is gone."""
    return owner.startswith(owner_of(0).removesuffix("0"))


_Case: TypeAlias = Case[str, DomainFacts | None, Zone, list[str]]


@dataclass(frozen=True, slots=True)
class _Zones(Reconciler[str, DomainFacts | None, Zone, list[str]]):
    """Whatever changes a domain or its records changes its serial too."""

    dns: Dns

    async def held(self) -> Mapping[str, Zone | None]:
        heads = await self.dns.engine.zones()
        return {each.name.removesuffix("."): None for each in heads if is_of_a_domain(each.owner)}

    async def page(
        self, held: Mapping[str, Zone | None], after: str | None, limit: int
    ) -> Mapping[str, bool]:
        """Every record of every zone is looked at."""
        zones = await queries.zones(self.installation.store, after or "", limit)
        return dict.fromkeys(zones, True)

    async def read(self, db: Queries, key: str) -> DomainFacts | None:
        facts = await queries.lock_zone(db, key)
        if await self.queue.busy(db, resource_of(key)):
            raise ChangedError
        return facts

    async def look(self, key: str, rows: DomainFacts | None) -> _Case | None:
        found = await self.dns.engine.inspect(absolute("", key))
        if rows is not None:
            drift = differences(await zone_of(self.installation.store, rows, self.dns), found)
        elif found is not None and is_of_a_domain(found.owner):
            drift = ["nobody has it, but the name server does"]
        else:
            drift = []
        return Case(key, rows, found, drift) if drift else None

    def describe(self, case: _Case) -> str:
        drift = case.drift[:_LISTED]
        more = len(case.drift) - len(drift)
        return f"zone {case.key}: {', '.join(drift + [f'{more} more'] * bool(more))}"

    async def mend(self, case: _Case) -> str:
        """A new serial makes secondaries follow, whatever they have transferred."""
        facts = case.rows
        if facts is None:
            owner = None if case.seen is None else case.seen.owner
            await self.dns.engine.delete_zone(absolute("", case.key), owner)
            return "deleted it"
        async with self.holding(case) as db:
            serial = rules.next_serial(facts.serial, self.queue.clock.now())
            await queries.set_serial(db, facts.id, serial)
            await jobs.sync_silently(self.queue, db, facts)
        return "a job puts it again"
