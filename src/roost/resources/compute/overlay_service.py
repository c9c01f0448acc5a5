"""What the networks of a host's guests have on the other hosts of their region.

Rows alone say so, by any config of an instance, whether it runs or not: who is started, moved or
put in a network needs to think of nobody. The worker of each host reads them all the time.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Interface

from roost.core.addresses import range_queries
from roost.core.addresses.queries import balanced_elsewhere, held_by_all
from roost.core.hosts import queries as hosts
from roost.resources.compute import overlay_queries
from roost.resources.compute.live_engine import HostAddress
from roost.resources.compute.overlay_engine import Overlay, RemoteAddress
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
    if not others:
        return Overlay(own)
    return Overlay(
        own,
        frozenset(others.values()),
        await _addresses(db, region, host, others),
        await _vlans(db, region, host, others),
        await _vpcs(db, region, host, others),
    )


async def _addresses(
    db: Queries, region: str, host: str, others: Mapping[str, HostAddress]
) -> frozenset[RemoteAddress]:
    found = {each.id: each for each in await overlay_queries.instances(db, region, host)}
    ranges = await range_queries.used_by(db, found)
    remote = set[RemoteAddress]()
    for compute_id, addresses in (await held_by_all(db, found)).items():
        if (there := others.get(found[compute_id].host)) is not None:
            remote |= {RemoteAddress(there, IPv4Address(each)) for each in addresses}
    for each in found.values():
        if (there := others.get(each.host)) is not None and each.ipv6:
            own = IPv6Interface(each.ipv6).ip
            remote.add(RemoteAddress(there, own, ranges.own(each.id)))
    return frozenset(remote | await _balanced(db, region, host, others))


async def _balanced(
    db: Queries, region: str, host: str, others: Mapping[str, HostAddress]
) -> set[RemoteAddress]:
    """NodeBalancers, to which their nodes answer."""
    found = await balanced_elsewhere(db, region, host)
    return {
        RemoteAddress(others[name], IPv4Address(address))
        for address, name in found.items()
        if name in others
    }


async def _vlans(
    db: Queries, region: str, host: str, others: Mapping[str, HostAddress]
) -> dict[int, frozenset[HostAddress]]:
    found = defaultdict[int, set[HostAddress]](set)
    for vlan_id, name in await overlay_queries.vlans(db, region, host):
        if name in others:
            found[vlan_id].add(others[name])
    return {key: frozenset(each) for key, each in found.items()}


async def _vpcs(
    db: Queries, region: str, host: str, others: Mapping[str, HostAddress]
) -> dict[int, frozenset[RemoteAddress]]:
    found = defaultdict[int, set[RemoteAddress]](set)
    for each in await overlay_queries.vpc_interfaces(db, region, host):
        if each.host in others:
            address, ranges = IPv4Address(each.address), frozenset(map(IPv4Network, each.ip_ranges))
            found[each.vpc_id].add(RemoteAddress(others[each.host], address, ranges))
    return {key: frozenset(each) for key, each in found.items()}
