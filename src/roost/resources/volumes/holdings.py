"""Volumes on hosts, for one that takes over what another had."""

from roost.core.hosts.holdings import Holding
from roost.core.planes import Engines
from roost.core.reconcile import PAGE
from roost.resources.volumes import host_queries, queries
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.store import Queries


async def missing(db: Queries, engines: Engines, host: str) -> list[str]:
    """Volumes of a host that these engines have no data of. Raises EngineError."""
    found = list[str]()
    for region in await host_queries.regions_of(db, host):
        held = {state.id for state in await engines.of(VOLUME_PLANE, region).list()}
        after = 0
        while rows := await queries.on_host(db, region, host, after, PAGE):
            after = rows[-1].id
            found += [
                f"volume {row.id}"
                for row in rows
                if row.id not in held and row.status != "creating" and not row.deleting
            ]
    return found


VOLUMES = Holding(
    "volume", host_queries.give, host_queries.by_host, host_queries.regions_of, missing
)
