"""Each record of the catalogue, field by field as its file has it."""

from collections.abc import Sequence

import pytest

from roost.app.roost import Roost
from roost.core.catalog.entries import ImageEntry, PlanEntry, Price, RegionEntry, RegionPrice
from tests.api.conftest import Account
from tests.api.samples.images import make_image
from tests.support.client import Client, Json


def by_id(rows: Sequence[Json]) -> list[Json]:
    return sorted(rows, key=lambda row: str(row["id"]))


def region(entry: RegionEntry) -> Json:
    return {
        "id": entry.id,
        "label": entry.label,
        "country": entry.country,
        "capabilities": list(entry.capabilities),
        "status": entry.status,
        "site_type": entry.site_type,
        "resolvers": {
            "ipv4": ",".join(map(str, entry.resolvers.ipv4)),
            "ipv6": ",".join(map(str, entry.resolvers.ipv6)),
        },
    }


def price(entry: Price) -> Json:
    return {"hourly": entry.hourly, "monthly": entry.monthly}


def prices(entries: Sequence[RegionPrice]) -> list[Json]:
    return [{"id": entry.id, **price(entry)} for entry in entries]


def plan(entry: PlanEntry) -> Json:
    backups = entry.addons.backups
    return {
        "id": entry.id,
        "label": entry.label,
        "class": entry.class_,
        "disk": entry.disk,
        "memory": entry.memory,
        "vcpus": entry.vcpus,
        "gpus": entry.gpus,
        "network_out": entry.network_out,
        "transfer": entry.transfer,
        "price": price(entry.price),
        "region_prices": prices(entry.region_prices),
        "addons": {
            "backups": {
                "price": price(backups.price),
                "region_prices": prices(backups.region_prices),
            }
        },
        "successor": entry.successor,
    }


def image(entry: ImageEntry) -> Json:
    return {
        "id": entry.id,
        "label": entry.label,
        "description": entry.description,
        "created": entry.created.isoformat(),
        "updated": entry.created.isoformat(),
        "created_by": "roost",
        "deprecated": entry.deprecated,
        "is_public": True,
        "size": entry.size,
        "type": "manual",
        "expiry": None,
        "eol": None if entry.eol is None else entry.eol.isoformat(),
        "vendor": entry.vendor,
        "status": "available",
        "capabilities": list(entry.capabilities),
    }


@pytest.mark.spec(
    "B regions list",
    "B regions view",
    "B region record",
    "B auth 4",
    "B region capabilities",
    "B region resolvers",
)
async def test_regions(nobody: Client, roost: Roost) -> None:
    expected = by_id([region(entry) for entry in roost.catalog.entries.regions])
    assert (await nobody.get("/regions"))["data"] == expected
    for row in expected:
        assert await nobody.get(f"/regions/{row['id']}") == row


@pytest.mark.spec(
    "B regions availability", "B region availability record", "B regions availability view"
)
async def test_availability(nobody: Client, roost: Roost) -> None:
    expected = [
        {"region": entry.id, "plan": plan, "available": available}
        for entry in sorted(roost.catalog.entries.regions, key=lambda entry: entry.id)
        for plan, available in sorted(entry.availability.items())
    ]
    assert (await nobody.get("/regions/availability"))["data"] == expected
    for entry in roost.catalog.entries.regions:
        rows = [row for row in expected if row["region"] == entry.id]
        assert await nobody.get(f"/regions/{entry.id}/availability") == rows


@pytest.mark.spec("B filter")
async def test_availability_by_filter(nobody: Client) -> None:
    wanted = {"region": "us-lake", "available": False}
    page = await nobody.get("/regions/availability", filter=wanted)
    assert page["data"] == [{"region": "us-lake", "plan": "g1-gpu-2", "available": False}]
    either = {"+or": [wanted, {"region": "br-south", "plan": "g2-premium-8"}]}
    assert (await nobody.get("/regions/availability", filter=either))["results"] == 2


async def test_compute_types(nobody: Client, roost: Roost) -> None:
    expected = [plan(entry) for entry in roost.catalog.entries.compute_types]
    assert (await nobody.get("/compute/types"))["data"] == expected
    for row in expected:
        assert await nobody.get(f"/compute/types/{row['id']}") == row


async def test_kernels(nobody: Client, roost: Roost) -> None:
    expected = by_id(
        [
            {**entry.model_dump(), "built": entry.built.isoformat()}
            for entry in roost.catalog.entries.kernels
        ]
    )
    assert (await nobody.get("/compute/kernels"))["data"] == expected
    for row in expected:
        assert await nobody.get(f"/compute/kernels/{row['id']}") == row


@pytest.mark.spec(
    "A images list", "A images view", "A auth 6", "A image record", "A image status", "A images 1"
)
async def test_public_images(nobody: Client, client: Client, roost: Roost) -> None:
    expected = by_id([image(entry) for entry in roost.catalog.entries.images])
    for caller in (nobody, client):
        assert (await caller.get("/images"))["data"] == expected
        for row in expected:
            assert await caller.get(f"/images/{row['id']}") == row


@pytest.mark.spec(
    "A images list", "A images view", "A auth 6", "A image private", "A images 1", "A images filter"
)
async def test_private_images(
    nobody: Client, client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    mine = await make_image(client, roost, account, "")
    (row,) = (await client.get("/images", filter={"is_public": False}))["data"]
    assert (row["id"], row["vendor"], row["is_public"]) == (mine, None, False)
    assert await client.get(f"/images/{mine}") == row
    assert await client.get(f"/images/{mine}".replace("private/", "private%2F")) == row
    for other in (nobody, stranger):
        assert (await other.get("/images", filter={"is_public": False}))["data"] == []
        assert (await other.send("GET", f"/images/{mine}")).status == 404


@pytest.mark.spec("A image public")
async def test_ids_of_public_images_begin_with_the_vendors_prefix(nobody: Client) -> None:
    ids = [row["id"] for row in (await nobody.get("/images", filter={"is_public": True}))["data"]]
    assert ids
    assert all(image_id.startswith("roost/") for image_id in ids)
