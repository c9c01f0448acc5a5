"""`roost fsck` of domains: every zone, record by record, and zones that nobody has."""

from collections.abc import AsyncIterator
from functools import partial

from roost.core.engine import EngineError
from roost.core.fsck import Finding, Installation, unrepairable
from roost.jobs.queue import JobQueue
from roost.resources.domains import queries, record_queries, rules
from roost.resources.domains.dns import Dns
from roost.resources.domains.drift import differences
from roost.resources.domains.entity import resource_of
from roost.resources.domains.names import absolute
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
            async with installation.store.transaction() as db:
                found = await _examine(installation, db, zone)
            if found:
                told = found[:_TOLD] + [f"{len(found) - _TOLD} more"] * (len(found) > _TOLD)
                text = f"zone {zone}: {', '.join(told)}"
                yield Finding(text, partial(_repair, installation, zone, held.get(zone)))
    except EngineError as error:
        yield unrepairable("the zones of domains cannot be seen", str(error))


def owner_of_any() -> str:
    """What the owners of all domains' zones begin with."""
    return owner_of(0).removesuffix("0")


async def _examine(installation: Installation, db: Queries, zone: str) -> list[str]:
    """The differences, certain until the end of the transaction; none while a job is at it."""
    dns = installation.get(Dns)
    facts = await queries.lock_zone(db, zone)
    if await installation.get(JobQueue).busy(db, resource_of(zone)):
        return []
    found = await dns.engine.inspect(absolute("", zone))
    if facts is not None:
        return differences(await zone_of(db, facts, dns), found)
    orphan = found is not None and found.owner.startswith(owner_of_any())
    return ["nobody has it, but the name server does"] if orphan else []


async def _repair(installation: Installation, zone: str, owner: str | None) -> str:
    """A new serial makes secondaries follow, whatever they have transferred."""
    dns, queue = installation.get(Dns), installation.get(JobQueue)
    async with installation.store.transaction() as db:
        if not await _examine(installation, db, zone):
            return "it is well by now"
        facts = await queries.lock_zone(db, zone)
        if facts is None:
            await dns.engine.delete_zone(absolute("", zone), owner)
            return "deleted it"
        serial = rules.next_serial(facts.serial, queue.clock.now())
        await queries.set_serial(db, facts.id, serial)
        renewed = await queries.find_zone(db, zone)
        assert renewed is not None
        await dns.engine.put_zone(await zone_of(db, renewed, dns))
        await record_queries.forget_changes(db, facts.id, serial)
    return "put it again"
