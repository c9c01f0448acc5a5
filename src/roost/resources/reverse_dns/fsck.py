"""`roost fsck` of reverse DNS: its zones, record by record."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import partial

from roost.core.engine import EngineError
from roost.core.fsck import Finding, Installation, unrepairable
from roost.jobs.queue import JobQueue
from roost.resources.domains import rules
from roost.resources.domains.fsck import differences
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_service import digest
from roost.resources.reverse_dns import queries
from roost.resources.reverse_dns.jobs import RESOURCE
from roost.resources.reverse_dns.queries import ZoneRow
from roost.resources.reverse_dns.service import OWNER, Desired, find_desired, make_zone
from roost.resources.reverse_dns.settings import ReverseDns

_LISTED = 10


async def check_reverse_zones(installation: Installation) -> AsyncIterator[Finding]:
    """What the name server was told is compared with what it holds; the job tells it the rest."""
    engine = installation.get(Dns).engine
    try:
        if await installation.get(JobQueue).busy(installation.store, RESOURCE):
            return
        held = {h.name.removesuffix(".") for h in await engine.zones() if h.owner == OWNER}
        view = await _look(installation)
        for zone in sorted({*held, *view.told}):
            found = await _examine(installation, view, zone)
            if found:
                text = f"zone {zone} of reverse DNS: {', '.join(found[:_LISTED])}"
                yield Finding(text, partial(_repair, installation, zone))
    except EngineError as error:
        yield unrepairable("the zones of reverse DNS cannot be seen", str(error))


@dataclass(frozen=True, slots=True)
class _View:
    """What the zones should be, and what the name server was told of them last."""

    desired: Desired
    told: Mapping[str, ZoneRow]


async def _look(installation: Installation) -> _View:
    desired = await find_desired(installation.store, installation.get(ReverseDns))
    return _View(desired, await queries.zones(installation.store))


async def _examine(installation: Installation, view: _View, zone: str) -> list[str]:
    dns, platform = installation.get(Dns), installation.get(ReverseDns)
    told, names = view.told.get(zone), view.desired.zones.get(zone)
    found = await dns.engine.inspect(f"{zone}.")
    if names is None or told is None:
        return [] if found is None or told else ["nobody has it, but the name server does"]
    wanted = make_zone(zone, names, platform, dns.nameservers, told.serial)
    # What has changed since, the next job does.
    return differences(wanted, found) if digest(wanted) == told.digest else []


async def _repair(installation: Installation, zone: str) -> str:
    dns, platform = installation.get(Dns), installation.get(ReverseDns)
    view = await _look(installation)
    if not await _examine(installation, view, zone):
        return "it is well by now"
    names = view.desired.zones.get(zone)
    if names is None:
        await dns.engine.delete_zone(f"{zone}.", OWNER)
        return "deleted it"
    before = view.told.get(zone) or ZoneRow(zone, "", 0)
    now = installation.get(JobQueue).clock.now()
    serial = rules.next_serial(before.serial, now)
    wanted = make_zone(zone, names, platform, dns.nameservers, serial)
    await dns.engine.put_zone(wanted)
    await queries.keep_zone(installation.store, ZoneRow(zone, digest(wanted), serial))
    return "put it again"
