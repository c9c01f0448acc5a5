"""What the private networks of a host's guests have on the other hosts of their region.

Rows alone say so, by any config of an instance, whether it runs or not: who is started, moved or
put in a network needs to think of nobody. The worker of each host reads them all the time.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network

from roost.core.hosts import queries as hosts
from roost.resources.compute import overlay_queries
from roost.resources.compute.live_engine import HostAddress
from roost.resources.compute.overlay_engine import Overlay, RemoteGuest
from roost.store import Queries


async def wanted(db: Queries, regions: Iterable[str], host: str) -> dict[str, Overlay]:
    """By region. Hosts are reached where they take instances of others (`ROOST_HOST_LISTEN`), those
    by IPv4 from each other, and those by IPv6."""
    found = {each.name: each.ip for each in await hosts.all_hosts(db)}
    own = found.pop(host, None)
    if own is None:
        return {region: Overlay() for region in regions}
    others = {
        name: ip for name, ip in found.items() if ip is not None and ip.version == own.version
    }
    return {region: await _of_region(db, region, host, own, others) for region in regions}


async def _of_region(
    db: Queries, region: str, host: str, own: HostAddress, others: Mapping[str, HostAddress]
) -> Overlay:
    vlans = defaultdict[int, set[HostAddress]](set)
    vpcs = defaultdict[int, set[RemoteGuest]](set)
    if others:
        for vlan_id, name in await overlay_queries.vlans(db, region, host):
            if name in others:
                vlans[vlan_id].add(others[name])
        for each in await overlay_queries.vpc_interfaces(db, region, host):
            if each.host in others:
                address, ranges = IPv4Address(each.address), map(IPv4Network, each.ip_ranges)
                vpcs[each.vpc_id].add(RemoteGuest(others[each.host], address, tuple(ranges)))
    return Overlay(
        own,
        {key: frozenset(each) for key, each in vlans.items()},
        {key: frozenset(each) for key, each in vpcs.items()},
    )
