"""`roost fsck` of the names of managed databases: their zone, record by record."""

from collections.abc import AsyncIterator
from functools import partial

from roost.core.engine import EngineError
from roost.core.fsck import Finding, Installation, unrepairable
from roost.jobs.queue import JobQueue
from roost.resources.databases import name_queries
from roost.resources.databases.name_jobs import RESOURCE
from roost.resources.databases.name_queries import ZoneRow
from roost.resources.databases.name_service import OWNER, find_names, make_zone
from roost.resources.databases.settings import DatabaseZone
from roost.resources.domains import rules
from roost.resources.domains.engine import Zone
from roost.resources.domains.fsck import differences
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_service import digest

_LISTED = 10


async def check_database_names(installation: Installation) -> AsyncIterator[Finding]:
    """What the name server was told is compared with what it holds; the job tells it the rest."""
    engine, own = installation.get(Dns).engine, installation.get(DatabaseZone).name
    try:
        if await installation.get(JobQueue).busy(installation.store, RESOURCE):
            return
        told = await name_queries.zones(installation.store)
        for head in await engine.zones():
            zone = head.name.removesuffix(".")
            if head.owner == OWNER and zone != own and zone not in told:
                remove = partial(_remove, installation, head.name)
                yield Finding(f"zone {zone} of databases is nobody's", remove)
        if own in told and (found := await _examine(installation, told[own])):
            text = f"zone {own} of databases: {', '.join(found[:_LISTED])}"
            yield Finding(text, partial(_repair, installation))
    except EngineError as error:
        yield unrepairable("the names of databases cannot be seen", str(error))


async def _examine(installation: Installation, told: ZoneRow) -> list[str]:
    """What has changed since it was told, the next job does."""
    wanted = await _wanted(installation, told.serial)
    found = await installation.get(Dns).engine.inspect(wanted.name)
    return differences(wanted, found) if digest(wanted) == told.digest else []


async def _wanted(installation: Installation, serial: int) -> Zone:
    hosts = await find_names(installation.store, installation.services)
    return make_zone(installation.services, hosts, serial)


async def _repair(installation: Installation) -> str:
    own = installation.get(DatabaseZone).name
    told = (await name_queries.zones(installation.store))[own]
    if not await _examine(installation, told):
        return "it is well by now"
    serial = rules.next_serial(told.serial, installation.get(JobQueue).clock.now())
    wanted = await _wanted(installation, serial)
    await installation.get(Dns).engine.put_zone(wanted)
    await name_queries.keep_zone(installation.store, ZoneRow(own, digest(wanted), serial))
    return "put it again"


async def _remove(installation: Installation, name: str) -> str:
    await installation.get(Dns).engine.delete_zone(name, OWNER)
    return "deleted it"
