"""What the entries of a catalogue owe each other; each fault is named by its path in the file."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network

from roost.core.catalog.entries import (
    Entries,
    ObjectClusterEntry,
    PlanEntry,
    RegionEntry,
    RegionPrice,
    TransferPrice,
)

PRIVATE_RANGE = IPv4Network("192.168.128.0/17")
"""Where private addresses lie; subnets of VPCs must not (reference, VPC subnet)."""

SLAAC_PREFIX = 64
RANGE_PREFIX = 56
"""Of the largest range that an account can have."""

Network = IPv4Network | IPv6Network


def faults(entries: Entries) -> Iterator[str]:
    """Empty when the catalogue is sound."""
    for group in (
        "regions",
        "compute_types",
        "kernels",
        "images",
        "betas",
        "database_engines",
        "database_types",
        "object_clusters",
    ):
        yield from _repeated(group, [entry.id for entry in getattr(entries, group)])
    regions = {region.id for region in entries.regions}
    plans = {plan.id for plan in entries.compute_types}
    for n, region in enumerate(entries.regions):
        path = f"regions[{n}]"
        yield from _unknown(f"{path}.availability", region.availability, plans, "compute type")
        yield from _misplaced(path, region)
    for n, plan in enumerate(entries.compute_types):
        yield from _plan_faults(f"compute_types[{n}]", plan, regions, plans)
    yield from _database_faults(entries)
    yield from _transfer_faults(entries.transfer_price, entries.regions)
    yield from _cluster_faults(entries.object_clusters, regions)
    for n, image in enumerate(entries.images):
        if image.id.startswith("private/"):
            yield f"images[{n}].id: private/ is for the images of accounts"
    yield from _overlaps(list(_pools(entries)))


def _repeated(group: str, ids: list[str]) -> Iterator[str]:
    for n, id_ in enumerate(ids):
        if id_ in ids[:n]:
            yield f"{group}[{n}].id: {id_} is already {group}[{ids.index(id_)}]"


def _unknown(path: str, ids: Iterable[str], known: set[str], noun: str) -> Iterator[str]:
    for id_ in ids:
        if id_ not in known:
            yield f"{path}: there is no {noun} {id_}"


def _plan_faults(path: str, plan: PlanEntry, regions: set[str], plans: set[str]) -> Iterator[str]:
    if plan.successor is not None:
        yield from _unknown(f"{path}.successor", [plan.successor], plans, "compute type")
    yield from _price_faults(f"{path}.region_prices", plan.region_prices, regions)
    backups = plan.addons.backups.region_prices
    yield from _price_faults(f"{path}.addons.backups.region_prices", backups, regions)


def _transfer_faults(price: TransferPrice, regions: list[RegionEntry]) -> Iterator[str]:
    path = "transfer_price.region_prices"
    ids = [each.id for each in price.region_prices]
    yield from _unknown(path, ids, {region.id for region in regions}, "region")
    yield from _repeated(path, ids)
    for region in regions:
        if region.id in ids and region.transfer_pool == "shared":
            yield f"{path}: {region.id} has no pool of its own"


def _cluster_faults(clusters: list[ObjectClusterEntry], regions: set[str]) -> Iterator[str]:
    for n, cluster in enumerate(clusters):
        path = f"object_clusters[{n}].region"
        yield from _unknown(path, [cluster.region], regions, "region")
        if cluster.region in [other.region for other in clusters[:n]]:
            yield f"{path}: {cluster.region} has a cluster already"


def _price_faults(path: str, prices: list[RegionPrice], regions: set[str]) -> Iterator[str]:
    ids = [price.id for price in prices]
    yield from _unknown(path, ids, regions, "region")
    yield from _repeated(path, ids)


def _misplaced(path: str, region: RegionEntry) -> Iterator[str]:
    for n, pool in enumerate(region.public_ipv4):
        edges = (pool.cidr.network_address, pool.cidr.broadcast_address)
        if pool.gateway not in pool.cidr or pool.gateway in edges:
            yield f"{path}.public_ipv4[{n}].gateway: {pool.gateway} is not a host of {pool.cidr}"
    for n, private in enumerate(region.private_ipv4):
        if not private.subnet_of(PRIVATE_RANGE):
            yield f"{path}.private_ipv4[{n}]: {private} is not inside {PRIVATE_RANGE}"
    if region.ipv6.cidr.prefixlen != SLAAC_PREFIX:
        yield f"{path}.ipv6.cidr: {region.ipv6.cidr} is not a /{SLAAC_PREFIX}"
    for network in region.ipv6_ranges:
        if network.prefixlen > RANGE_PREFIX:
            yield f"{path}.ipv6_ranges: {network} is smaller than a /{RANGE_PREFIX}"
    if region.ipv6.gateway not in region.ipv6.cidr:
        yield f"{path}.ipv6.gateway: {region.ipv6.gateway} is not inside {region.ipv6.cidr}"


def _pools(entries: Entries) -> Iterator[tuple[str, Network]]:
    for n, region in enumerate(entries.regions):
        for m, pool in enumerate(region.public_ipv4):
            yield f"regions[{n}].public_ipv4[{m}].cidr", pool.cidr
        for m, private in enumerate(region.private_ipv4):
            yield f"regions[{n}].private_ipv4[{m}]", private
        yield f"regions[{n}].ipv6.cidr", region.ipv6.cidr
        for m, network in enumerate(region.ipv6_ranges):
            yield f"regions[{n}].ipv6_ranges[{m}]", network


def _database_faults(entries: Entries) -> Iterator[str]:
    for n, engine in enumerate(entries.database_engines):
        if engine.engine not in ("mysql", "postgresql"):
            yield f"database_engines[{n}].id: there is no database engine {engine.engine}"
        elif (engine.engine == "postgresql") != (engine.server == "postgresql"):
            yield f"database_engines[{n}].server: {engine.server} does not speak {engine.engine}"
    for n, database_type in enumerate(entries.database_types):
        engines = database_type.engines
        for name, prices in (("mysql", engines.mysql), ("postgresql", engines.postgresql)):
            sizes = [str(row.quantity) for row in prices]
            if len(set(sizes)) < len(sizes):
                yield f"database_types[{n}].engines.{name}: a quantity is there twice"


def _overlaps(pools: list[tuple[str, Network]]) -> Iterator[str]:
    for n, (path, network) in enumerate(pools):
        for other_path, other in pools[:n]:
            if network.version == other.version and network.overlaps(other):
                yield f"{path}: {network} overlaps {other} of {other_path}"
