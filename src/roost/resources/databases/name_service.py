"""The zone in which databases have their names, as the name server is to hold it."""

from collections.abc import Iterator
from ipaddress import ip_address

from roost.core.planes import Engines
from roost.resources.databases import name_queries
from roost.resources.databases.engine import PLANES, HostName
from roost.resources.databases.settings import DatabaseZone
from roost.resources.domains.engine import RRset, Zone
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_service import PLATFORM_TTL, platform_zone
from roost.services import Services
from roost.store import Queries

OWNER = "databases"


async def find_names(db: Queries, services: Services) -> list[HostName]:
    """The names of all databases that have any of the zone.

    Those that were made before there were names have none until they are patched.
    """
    engines = services.get(Engines)
    of_kind = {kind: engines.by_region(plane) for kind, plane in PLANES.items()}
    found = list[HostName]()
    for row in await name_queries.named(db):
        engine = of_kind[row.kind].get(row.region)
        if engine is None:
            continue
        hosts = engine.hosts(row.id, row.cluster_size)
        if row.primary in (None, hosts.primary.name):
            found += hosts.named
    return found


def make_zone(services: Services, hosts: list[HostName], serial: int) -> Zone:
    name = services.get(DatabaseZone).name
    nameservers = services.get(Dns).nameservers
    return platform_zone(name, OWNER, _rrsets(hosts), name, nameservers, serial)


def _rrsets(hosts: list[HostName]) -> Iterator[RRset]:
    for host in hosts:
        assert host.address is not None
        kind = "A" if ip_address(host.address).version == 4 else "AAAA"
        yield RRset(f"{host.name}.", kind, PLATFORM_TTL, frozenset([host.address]))
