"""The zones of reverse DNS as the name server is to hold them.

Addresses get their default names before instances get the addresses: those that are laid out and
a margin beyond them, so that making an instance need not wait for DNS.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, ip_address

from roost.core import instance_queries
from roost.core.addresses import queries as addresses
from roost.resources.domains.engine import RRset, Zone
from roost.resources.domains.zone_service import PLATFORM_TTL, platform_zone
from roost.resources.reverse_dns import queries
from roost.resources.reverse_dns.queries import NameRow
from roost.resources.reverse_dns.rules import (
    Network,
    default_name,
    network_of,
    pointer,
    pool_zone,
    zone_of,
)
from roost.resources.reverse_dns.settings import ReverseDns
from roost.store import Queries

OWNER = "reverse-dns"
MARGIN = 256
"""Addresses."""


@dataclass(frozen=True, slots=True)
class Desired:
    """What names there are, by the zone without the final period."""

    zones: Mapping[str, Mapping[str, str]]
    """Each from an address to a name: of PTR records, or with the suffix's zone of A records."""
    stale: list[NameRow]
    """Names whose addresses have left their instances."""


async def find_desired(
    db: Queries, platform: ReverseDns, only: Collection[str] | None = None
) -> Desired:
    """What all zones, or `only` some of addresses, are to have."""
    networks = None if only is None else [network_of(zone) for zone in only]
    rows = await queries.names(db, None if networks is None else list(map(str, networks)))
    v4 = await addresses.holders(db, [row.address for row in rows if ":" not in row.address])
    v6 = await instance_queries.existing(db, [row.compute_id for row in rows if ":" in row.address])
    stale, held = [], {}
    for row in rows:
        is_held = row.compute_id in v6 if ":" in row.address else v4.get(row.address)
        if is_held is True or is_held == row.compute_id:
            held[row.address] = row.name
        else:
            stale.append(row)
    zones = _zones(platform, held, await addresses.fills(db), networks)
    if only is not None:
        zones = {zone: names for zone, names in zones.items() if zone in only}
    return Desired(zones, stale)


def _zones(
    platform: ReverseDns,
    names: Mapping[str, str],
    fills: Mapping[str, str],
    networks: Collection[Network] | None,
) -> Mapping[str, Mapping[str, str]]:
    """At least those of the networks, or of all."""
    zones: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for pool in platform.pools:
        if not isinstance(pool, IPv4Network):
            zones[pool_zone(pool.network_address, pool)] = {}
            continue
        for address in _laid_out(pool, fills.get(str(pool)), networks):
            name = default_name(str(address), platform.suffix)
            assert name is not None
            zones[platform.suffix][str(address)] = name
            zones[pool_zone(address, pool)][str(address)] = name
    for text, name in names.items():
        zone = zone_of(text, platform.pools)
        if zone is not None:
            zones[zone][text] = name
    return zones


def _laid_out(
    pool: IPv4Network, fill: str | None, networks: Collection[Network] | None
) -> Iterator[IPv4Address]:
    """Without the first and the last address, which nobody gets."""
    first = int(pool.network_address)
    laid_out = int(ip_address(fill)) - first if fill else 0
    hosts = range(first + 1, int(pool.broadcast_address))[: laid_out + MARGIN]
    for network in (pool,) if networks is None else networks:
        if isinstance(network, IPv4Network):
            start, end = int(network.network_address), int(network.broadcast_address)
            yield from map(IPv4Address, range(max(start, hosts.start), min(end + 1, hosts.stop)))


def make_zone(
    name: str,
    names: Mapping[str, str],
    platform: ReverseDns,
    nameservers: tuple[str, ...],
    serial: int,
) -> Zone:
    """One zone with its records."""
    if name == platform.suffix:
        rrsets = [RRset(f"{n}.", "A", PLATFORM_TTL, frozenset([a])) for a, n in names.items()]
    else:
        rrsets = [
            RRset(
                f"{pointer(a)}.",
                "PTR",
                PLATFORM_TTL,
                frozenset([f"{n.removesuffix('.').lower()}."]),
            )
            for a, n in names.items()
        ]
    return platform_zone(name, OWNER, rrsets, platform.suffix, nameservers, serial)
