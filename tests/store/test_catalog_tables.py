"""The catalogue in its tables, and the lists that read them."""

import asyncio
import json
from datetime import datetime
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from roost.core.catalog import Catalog, load, sync
from roost.core.catalog.entries import ImageEntry
from roost.core.catalog.loader import parse
from roost.errors import ApiError
from roost.resources.compute_types.queries import EVERY_TYPE, TYPES
from roost.resources.compute_types.records import ComputeTypeRow
from roost.resources.images import queries
from roost.resources.images.imported_service import ImportedImages, offer
from roost.resources.images.queries import EVERY_IMAGE, IMAGES, list_imported
from roost.resources.images.records import ImageRow
from roost.resources.kernels.queries import EVERY_KERNEL, KERNELS
from roost.resources.kernels.records import KernelRow
from roost.resources.regions.queries import AVAILABILITY, EVERY_REGION, REGIONS, availability_of
from roost.resources.regions.records import AvailabilityRow, RegionRow
from roost.store import Queries, Store
from roost.store.paging import Listing, fetch_page, fetch_record
from roost.web.filters import parse_filter

WORLDWIDE = Path(__file__).parents[2] / "examples" / "catalogs" / "worldwide.toml"
OWNER = 100_001
NOBODY = (None, None)
"""For images: neither an account nor a user who needs a grant."""

Record = dict[str, object]


@pytest.fixture
async def catalog(store: Store) -> Catalog:
    catalog = load(None)
    await sync(store, catalog)
    return catalog


async def listed(
    store: Store, listing: Listing, filter_: str | None = None, scope: tuple[object, ...] = ()
) -> list[Record]:
    selection = parse_filter(filter_, listing.columns)
    body = json.loads(await fetch_page(store, listing, scope, selection, 1, 500))
    records: list[Record] = body["data"]
    return records


def ids(records: list[Record]) -> list[object]:
    return [record["id"] for record in records]


@pytest.mark.spec("B region status", "A image record")
@pytest.mark.parametrize(
    ("listing", "scope", "row"),
    [
        (REGIONS, (), RegionRow),
        (AVAILABILITY, (), AvailabilityRow),
        (TYPES, (), ComputeTypeRow),
        (KERNELS, (), KernelRow),
        (IMAGES, NOBODY, ImageRow),
    ],
)
async def test_records_are_what_the_documentation_says(
    store: Store, catalog: Catalog, listing: Listing, scope: tuple[object, ...], row: type
) -> None:
    records = await listed(store, listing, scope=scope)
    assert records
    for record in records:
        assert TypeAdapter(row).validate_python(record, strict=True) == record


@pytest.mark.spec("B region resolvers")
async def test_a_region(store: Store, catalog: Catalog) -> None:
    record = json.loads(await fetch_record(store, EVERY_REGION, (), "us-lake"))
    assert record["resolvers"] == {
        "ipv4": "192.0.2.5,192.0.2.6,192.0.2.7",
        "ipv6": "2001:db8:1::5,2001:db8:1::6,2001:db8:1::7",
    }
    assert record["status"] == "ok"


async def test_a_type(store: Store, catalog: Catalog) -> None:
    record = json.loads(await fetch_record(store, EVERY_TYPE, (), "g1-nano-1"))
    assert record["price"] == {"hourly": 0.0075, "monthly": 5.0}
    assert record["region_prices"] == [{"id": "br-south", "hourly": 0.0105, "monthly": 7.0}]
    assert record["addons"]["backups"]["price"]["monthly"] == 2.0
    assert record["class"] == "nanode"


async def test_an_image(store: Store, catalog: Catalog) -> None:
    record = json.loads(await fetch_record(store, EVERY_IMAGE, NOBODY, "roost/debian12"))
    assert record["created"] == record["updated"] == "2023-06-11T14:29:03"
    assert (record["is_public"], record["created_by"]) == (True, "roost")
    assert record["capabilities"] == ["cloud-init"]


async def test_a_kernel(store: Store, catalog: Catalog) -> None:
    record = json.loads(await fetch_record(store, EVERY_KERNEL, (), "roost/grub2"))
    assert record["built"] == "2022-10-17T13:41:27"


@pytest.mark.spec("A images filter", "B filter and")
@pytest.mark.parametrize(
    ("listing", "filter_", "wanted"),
    [
        (TYPES, '{"class": "gpu"}', ["g1-gpu-1", "g1-gpu-2"]),
        (TYPES, '{"memory": {"+lt": 2048}}', ["g1-micro-1", "g1-nano-1"]),
        (TYPES, '{"gpus": {"+gt": 1}}', ["g1-gpu-2"]),
        (KERNELS, '{"kvm": false}', ["roost/2.6.39-p34"]),
        (IMAGES, '{"vendor": "Debian", "deprecated": true}', ["roost/debian9"]),
        (IMAGES, '{"label": {"+contains": "test GUEST"}}', ["roost/mini"]),
        (IMAGES, '{"is_public": false}', []),
    ],
)
async def test_filters(
    store: Store, catalog: Catalog, listing: Listing, filter_: str, wanted: list[str]
) -> None:
    scope = NOBODY if listing is IMAGES else ()
    assert ids(await listed(store, listing, filter_, scope)) == wanted


async def test_image_status_filters_but_does_not_order(store: Store, catalog: Catalog) -> None:
    assert await listed(store, IMAGES, '{"status": "available"}', NOBODY)
    with pytest.raises(ApiError):
        parse_filter('{"+order_by": "status"}', IMAGES.columns)


async def test_availability(store: Store, catalog: Catalog) -> None:
    everywhere = await listed(store, AVAILABILITY, '{"available": false}')
    assert [(row["region"], row["plan"]) for row in everywhere] == [
        ("br-south", "g2-premium-8"),
        ("us-lake", "g1-gpu-2"),
    ]
    there = json.loads(await availability_of(store, "br-south"))
    assert [row["plan"] for row in there] == ["g2-premium-2", "g2-premium-4", "g2-premium-8"]
    assert json.loads(await availability_of(store, "local")) == []
    with pytest.raises(ApiError):
        await availability_of(store, "nowhere")


async def test_pools(store: Store, catalog: Catalog) -> None:
    rows = await store.fetch(
        "select kind, cidr::text, host(gateway) as gateway from ip_pool"
        " where region = 'local' order by kind"
    )
    assert [tuple(row) for row in rows] == [
        ("ipv6", "2001:db8:100::/64", "2001:db8:100::1"),
        ("private", "192.168.128.0/19", None),
        ("public", "198.51.100.0/24", "198.51.100.1"),
    ]


async def test_entries_that_leave_are_retired_and_may_come_back(
    store: Store, catalog: Catalog
) -> None:
    await sync(store, load(WORLDWIDE))
    assert len(ids(await listed(store, REGIONS))) == 12
    assert "roost/mini" not in ids(await listed(store, IMAGES, scope=NOBODY))
    assert json.loads(await fetch_record(store, EVERY_REGION, (), "local"))["id"] == "local"
    assert not await store.fetchval("select exists (select from ip_pool where region = 'local')")
    await sync(store, catalog)
    assert ids(await listed(store, REGIONS)) == ["br-south", "local", "us-lake"]
    assert "roost/mini" in ids(await listed(store, IMAGES, scope=NOBODY))


async def test_what_changes_in_the_file_changes_in_the_table(
    store: Store, catalog: Catalog
) -> None:
    text = WORLDWIDE.read_text().replace("Columbus, OH, USA", "Elsewhere")
    text = text[: text.index("[[kernels]]")] + "kernels = []\nimages = []\n"
    top, rest = text[: text.index("[[regions]]")], text[text.index("[[regions]]") :]
    rest, empty = rest.split("kernels = []")
    await sync(store, parse(f"{top}kernels = []{empty}{rest}", "changed"))
    record = json.loads(await fetch_record(store, EVERY_REGION, (), "us-lake"))
    assert record["label"] == "Elsewhere"
    assert await listed(store, KERNELS) == []


async def test_private_images_belong_to_their_account(store: Store, catalog: Catalog) -> None:
    await store.execute(
        "insert into image (id, account_id, label, created, updated, created_by, size, type,"
        " status, number, region, engine) values ('private/100001', $1, 'mine',"
        " '2024-01-01', '2024-01-01', 'me', 0,"
        " 'manual', 'creating', 100001, 'us-lake', 'simulated')",
        OWNER,
    )
    await sync(store, catalog)
    mine = await listed(store, IMAGES, '{"is_public": false}', (OWNER, None))
    assert ids(mine) == ["private/100001"]
    assert ids(await listed(store, IMAGES, '{"is_public": false}', (OWNER + 1, None))) == []
    assert ids(await listed(store, IMAGES, '{"is_public": false}', NOBODY)) == []
    with pytest.raises(ApiError):
        await fetch_record(store, EVERY_IMAGE, NOBODY, "private/100001")


@pytest.mark.parametrize("name", ["roost", "operator"])
async def test_a_user_may_be_called_as_roost_itself(
    store: Store, catalog: Catalog, name: str
) -> None:
    """The user's private images are taken neither for the catalogue's nor for the operator's."""
    await store.execute(
        "insert into image (id, account_id, label, created, updated, created_by, size, type,"
        " status, number, region, engine) values ('private/100002', $1, 'mine',"
        " '2024-01-01', '2024-01-01', $2, 0,"
        " 'manual', 'available', 100002, 'us-lake', 'simulated')",
        OWNER,
        name,
    )
    await sync(store, catalog)
    assert ids(await listed(store, IMAGES, '{"is_public": false}', (OWNER, None))) == [
        "private/100002"
    ]
    assert await list_imported(store) == []


async def test_of_two_imports_at_once_none_is_forgotten(
    store: Store, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that was read before the second one does not replace what was read after it."""
    read, told, go_on = asyncio.Event(), list[str](), asyncio.Event()

    async def hold_the_first(db: Queries) -> list[ImageEntry]:
        found = await list_imported(db)
        if not read.is_set():
            read.set()
            await go_on.wait()
        return found

    await ImportedImages(store, catalog).follow()
    await store.listen("roost_image", told.append)
    monkeypatch.setattr(queries, "list_imported", hold_the_first)
    await offer(store, "acme/first", "First", 2, datetime(2024, 1, 1))
    await asyncio.wait_for(read.wait(), 60)
    await offer(store, "acme/second", "Second", 2, datetime(2024, 1, 1))
    async with asyncio.timeout(60):
        while len(told) < 2:
            await list_imported(store)
        for _ in range(200):
            assert catalog.find_image("acme/second") is None
            await list_imported(store)
        go_on.set()
        while catalog.find_image("acme/second") is None:
            await list_imported(store)
    assert catalog.find_image("acme/first") is not None
