"""Instances on hosts, with their backups, for one that takes over what another had."""

from roost.core import instance_queries
from roost.core.hosts.holdings import Holding
from roost.core.planes import Engines
from roost.core.reconcile import PAGE
from roost.resources.compute import host_queries
from roost.resources.compute.backups import queries as backups
from roost.resources.compute.disk_engine import BackupEngine
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.store import Queries


async def missing(db: Queries, engines: Engines, host: str) -> list[str]:
    """Disks and backups of a host that these engines do not hold. Raises EngineError."""
    found = list[str]()
    for region in await host_queries.regions_of(db, host):
        engine = engines.of(INSTANCE_PLANE, region)
        found += await _disks(db, engine, region, host)
        found += await _backups(db, engine.backups, region, host)
    return found


async def _disks(db: Queries, engine: InstanceEngine, region: str, host: str) -> list[str]:
    held = {disk.id for guest in await engine.list() for disk in guest.disks}
    found, after = list[str](), 0
    while rows := await instance_queries.on_host(db, region, host, after, PAGE):
        after = rows[-1].id
        owned = await disks.of_instances(db, [row.id for row in rows if row.status != "deleting"])
        found += [
            f"disk {disk.id} of instance {compute_id}"
            for compute_id, each in owned.items()
            for disk in each
            if disk.made and disk.id not in held
        ]
    return found


async def _backups(db: Queries, engine: BackupEngine, region: str, host: str) -> list[str]:
    held = {state.id for state in await engine.list()}
    found, after = list[str](), 0
    while rows := await backups.on_host(db, region, host, after, PAGE):
        after = max(rows)
        found += [
            f"backup {key}"
            for key, status in rows.items()
            if status == "successful" and key not in held
        ]
    return found


INSTANCES = Holding(
    "instance",
    host_queries.give,
    host_queries.by_host,
    host_queries.regions_of,
    missing,
    host_queries.moves_to,
)
