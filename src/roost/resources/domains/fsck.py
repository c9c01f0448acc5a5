"""`roost fsck` of domains: every zone, record by record, and zones that nobody has."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from roost.core.engine import EngineError
from roost.core.fsck import ChangedError, Finding, Installation, unchanged, unrepairable
from roost.jobs.queue import JobQueue
from roost.resources.domains import jobs, queries, rules
from roost.resources.domains.dns import Dns
from roost.resources.domains.drift import differences
from roost.resources.domains.engine import Zone
from roost.resources.domains.entity import resource_of
from roost.resources.domains.names import absolute
from roost.resources.domains.queries import DomainFacts
from roost.resources.domains.zones import owner_of, zone_of
from roost.store import Queries

_TOLD = 10
"""How many differences of one zone are told of."""


async def check_zones(installation: Installation) -> AsyncIterator[Finding]:
    """Zones are listed before rows: a row is there before its zone."""
    try:
        heads = await installation.get(Dns).engine.zones()
        held = {head.name.removesuffix("."): head.owner for head in heads}
        own = {zone for zone, owner in held.items() if owner.startswith(owner_of_any())}
        for zone in sorted({*own, *await queries.zones(installation.store)}):
            case = await _confirmed(installation, zone)
            if case is not None:
                yield Finding(case.text, partial(_repair, installation, zone, held.get(zone)))
    except EngineError as error:
        yield unrepairable("the zones of domains cannot be seen", str(error))


def owner_of_any() -> str:
    """What the owners of all domains' zones begin with."""
    return owner_of(0).removesuffix("0")


@dataclass(frozen=True, slots=True)
class _Rows:
    """The domain. Whatever changes it or its records changes its serial too."""

    facts: DomainFacts | None


@dataclass(frozen=True, slots=True)
class _Case:
    """What is wrong as long as the rows do not change."""

    rows: _Rows
    text: str


async def _confirmed(installation: Installation, zone: str) -> _Case | None:
    """None when all is well, or a job works on it."""
    store, read = installation.store, partial(_read, installation, zone)
    async with store.transaction() as db:
        rows = await read(db)
    if rows is None:
        return None
    dns = installation.get(Dns)
    found = await dns.engine.inspect(absolute("", zone))
    wanted = None if rows.facts is None else await zone_of(store, rows.facts, dns)
    told = _differences(wanted, found)
    with suppress(ChangedError):
        if told:
            async with unchanged(store, read, rows):
                told = told[:_TOLD] + [f"{len(told) - _TOLD} more"] * (len(told) > _TOLD)
                return _Case(rows, f"zone {zone}: {', '.join(told)}")
    return None


async def _read(installation: Installation, zone: str, db: Queries) -> _Rows | None:
    """The row, locked; None while a job is at it."""
    facts = await queries.lock_zone(db, zone)
    if await installation.get(JobQueue).busy(db, resource_of(zone)):
        return None
    return _Rows(facts)


def _differences(wanted: Zone | None, found: Zone | None) -> list[str]:
    if wanted is not None:
        return differences(wanted, found)
    orphan = found is not None and found.owner.startswith(owner_of_any())
    return ["nobody has it, but the name server does"] if orphan else []


async def _repair(installation: Installation, zone: str, owner: str | None) -> str:
    """A new serial makes secondaries follow, whatever they have transferred."""
    case = await _confirmed(installation, zone)
    if case is None:
        return "it is well by now"
    facts, queue = case.rows.facts, installation.get(JobQueue)
    if facts is None:
        await installation.get(Dns).engine.delete_zone(absolute("", zone), owner)
        return "deleted it"
    async with unchanged(installation.store, partial(_read, installation, zone), case.rows) as db:
        serial = rules.next_serial(facts.serial, queue.clock.now())
        await queries.set_serial(db, facts.id, serial)
        await jobs.enqueue_sync(queue, db, facts)
    return "a job puts it again"
