"""Brings the catalogue into the tables, where lists, filters and joins read it."""

from collections.abc import Iterator

from roost.core.catalog import queries
from roost.core.catalog.catalog import Catalog
from roost.core.catalog.entries import (
    DatabaseEngineEntry,
    DatabaseTypeEntry,
    Entries,
    ImageEntry,
    PlanEntry,
    RegionEntry,
)
from roost.core.catalog.queries import Row
from roost.store import Store

CREATOR = "roost"
"""`created_by` of the catalogue's images."""

_OWN_IMAGES = f"created_by = '{CREATOR}' and account_id is null"
"""A user may have that name too."""


async def sync(store: Store, catalog: Catalog) -> None:
    """Make the tables say what the catalogue says; called at every start.

    An entry that is no longer in the file is retired: not listed, but still there by its id for
    what was made with it.
    """
    entries = catalog.entries
    async with store.transaction() as db:
        await queries.lock(db)
        await queries.replace(db, "region", [_region(entry) for entry in entries.regions])
        await queries.replace(db, "compute_type", list(_plans(entries.compute_types)))
        await queries.replace(db, "kernel", [k.model_dump(mode="json") for k in entries.kernels])
        engines = [_database_engine(entry) for entry in entries.database_engines]
        await queries.replace(db, "database_engine", engines)
        types = list(_plans(entries.database_types))
        await queries.replace(db, "database_type", types)
        clusters = [c.model_dump(mode="json") for c in entries.object_clusters]
        await queries.replace(db, "object_cluster", clusters)
        await queries.replace(db, "beta", [b.model_dump(mode="json") for b in entries.betas])
        images = [_image(entry) for entry in entries.images]
        await queries.replace(db, "image", images, among=_OWN_IMAGES)
        await queries.refill(db, "unit_price", list(_prices(entries)))
        await queries.refill(db, "region_availability", list(_availability(entries.regions)))
        await queries.refill(db, "ip_pool", list(_pools(entries.regions)))


def _region(entry: RegionEntry) -> Row:
    return {
        "id": entry.id,
        "label": entry.label,
        "country": entry.country,
        "capabilities": list(entry.capabilities),
        "status": entry.status,
        "site_type": entry.site_type,
        "resolvers_ipv4": ",".join(map(str, entry.resolvers.ipv4)),
        "resolvers_ipv6": ",".join(map(str, entry.resolvers.ipv6)),
        "engine": entry.engine,
    }


def _prices(entries: Entries) -> Iterator[Row]:
    """The prices of what has no plans."""
    priced = {
        "blockstorage": entries.volume_price,
        "ip_v4": entries.address_price,
        "image": entries.image_price,
        "nodebalancer": entries.nodebalancer_price,
        "objectstorage": entries.bucket_price,
        "managed": entries.managed_price,
    }
    for service, entry in priced.items():
        yield {"free": 0, **entry.model_dump(mode="json"), "service": service}
    transfer = entries.transfer_price
    yield {
        "service": "transfer",
        "price": _at_once(transfer.price),
        "region_prices": [{"id": e.id, **_at_once(e.price)} for e in transfer.region_prices],
        "free": 0,
    }


def _at_once(price: float) -> Row:
    return {"hourly": 0, "monthly": price}


def _database_engine(entry: DatabaseEngineEntry) -> Row:
    row: Row = entry.model_dump(mode="json", exclude={"server"})
    return row | {"engine": entry.engine, "version": entry.version}


def _plans(entries: list[PlanEntry] | list[DatabaseTypeEntry]) -> Iterator[Row]:
    for position, entry in enumerate(entries):
        yield {**entry.model_dump(mode="json", by_alias=True), "position": position}


def _image(entry: ImageEntry) -> Row:
    row: Row = entry.model_dump(mode="json", exclude={"runs_scripts"})
    return row | {
        "updated": row["created"],
        "created_by": CREATOR,
        "type": "manual",
        "status": "available",
    }


def _availability(regions: list[RegionEntry]) -> Iterator[Row]:
    for region in regions:
        for plan, available in region.availability.items():
            yield {"region": region.id, "plan": plan, "available": available}


def _pools(regions: list[RegionEntry]) -> Iterator[Row]:
    for region in regions:
        for public in region.public_ipv4:
            yield _pool(region, "public", str(public.cidr), str(public.gateway))
        for private in region.private_ipv4:
            yield _pool(region, "private", str(private), None)
        yield _pool(region, "ipv6", str(region.ipv6.cidr), str(region.ipv6.gateway))


def _pool(region: RegionEntry, kind: str, cidr: str, gateway: str | None) -> Row:
    return {"region": region.id, "kind": kind, "cidr": cidr, "gateway": gateway}
