"""Regions, compute types, kernels and images over HTTP."""

import json
from collections.abc import AsyncIterator
from urllib.parse import quote

import aiohttp
import pytest
from yarl import URL

from roost.app.first_start import ADMIN
from roost.core.scopes import Scopes
from roost.resources.account.queries import find_user
from roost.resources.tokens.service import issue_token
from tests.support.database import DatabaseServer
from tests.support.server import RunningRoost, running_roost, simulated

NOT_FOUND = {"errors": [{"reason": "Not found"}]}
Answer = tuple[int, object]


@pytest.fixture(scope="module")
async def served(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningRoost]:
    async with (
        database_server.database() as url,
        running_roost(simulated(tmp_path_factory.mktemp("state"), url)) as running,
    ):
        yield running


async def get(served: RunningRoost, path: str, **headers: str) -> Answer:
    """Status and body; underscores in the names of headers are hyphens."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    url = URL(f"{served.url}/v4{path}", encoded=True)
    async with aiohttp.ClientSession() as session, session.get(url, headers=names) as response:
        return response.status, await response.json()


async def listed(served: RunningRoost, path: str, **headers: str) -> list[object]:
    status, body = await get(served, path, **headers)
    assert status == 200, body
    assert isinstance(body, dict)
    assert set(body) == {"data", "page", "pages", "results"}
    return [record.get("id") for record in body["data"]]


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/regions", "local"),
        ("/compute/types", "g1-nano-1"),
        ("/compute/kernels", "roost/grub2"),
        ("/images", "roost/mini"),
    ],
)
async def test_lists_and_views_need_no_token(served: RunningRoost, path: str, known: str) -> None:
    ids = await listed(served, path)
    assert known in ids
    if path != "/compute/types":
        assert ids == sorted(map(str, ids))
    for written in (known, quote(known, safe=""), known + "/"):
        status, body = await get(served, f"{path}/{written}?page=1&page_size=100")
        assert status == 200
        assert isinstance(body, dict)
        assert body["id"] == known


@pytest.mark.parametrize(
    "path",
    [
        "/regions/nowhere",
        "/regions/nowhere/availability",
        "/compute/types/none",
        "/compute/kernels/roost/none",
        "/images/roost/none",
        "/images/private/1",
        "/regions?page=2",
    ],
)
async def test_what_is_not_there(served: RunningRoost, path: str) -> None:
    assert await get(served, path) == (404, NOT_FOUND)


async def test_availability(served: RunningRoost) -> None:
    status, body = await get(served, "/regions/availability")
    assert status == 200
    assert isinstance(body, dict)
    assert body["results"] == 8
    assert await get(served, "/regions/us-lake/availability") == (
        200,
        [row for row in body["data"] if row["region"] == "us-lake"],
    )


async def test_types_come_in_the_catalogues_order(served: RunningRoost) -> None:
    entries = served.roost.catalog.entries.compute_types
    ids = [entry.id for entry in entries]
    assert await listed(served, "/compute/types") == ids != sorted(ids)
    wanted = {"class": "premium", "+order": "desc"}
    assert await listed(served, "/compute/types", X_Filter=json.dumps(wanted)) == [
        entry.id for entry in reversed(entries) if entry.class_ == "premium"
    ]


async def test_regions_are_found_by_country_and_kind_of_site(served: RunningRoost) -> None:
    wanted = {"country": "us", "site_type": "core"}
    assert await listed(served, "/regions", X_Filter=json.dumps(wanted)) == ["local", "us-lake"]
    assert await listed(served, "/regions", X_Filter='{"site_type": "distributed"}') == []


async def test_filter_and_order(served: RunningRoost) -> None:
    wanted = {"class": "highmem", "+order_by": "memory", "+order": "desc"}
    ids = await listed(served, "/compute/types", X_Filter=json.dumps(wanted))
    assert ids == ["g2-highmem-4", "g2-highmem-2", "g2-highmem-1"]


async def test_refusals(served: RunningRoost) -> None:
    def refused(field: str, reason: str) -> Answer:
        return 400, {"errors": [{"field": field, "reason": reason}]}

    assert await get(served, "/images?page_size=24") == refused("page_size", "Must be 25-500")
    assert await get(served, "/images", X_Filter="[]") == refused(
        "X-Filter", "Filter not valid JSON"
    )
    assert await get(served, "/images", X_Filter='{"id": "x"}') == refused(
        "X-Filter", "Cannot filter on id"
    )
    assert await get(served, "/regions", X_Filter='{"status": "ok"}') == refused(
        "X-Filter", "Cannot filter on status"
    )
    assert await get(served, "/images", X_Filter='{"+order_by": "status"}') == refused(
        "X-Filter", "Cannot order by status"
    )


async def test_every_token_sees_public_images(served: RunningRoost) -> None:
    """One without the scope sees what strangers see, and no private ones."""
    store, clock = served.roost.store, served.roost.clock
    user_id = await find_user(store, ADMIN)
    assert user_id is not None
    other = await issue_token(store, clock, user_id, "other", Scopes.parse("domains:read_only"))
    await store.execute(
        """
        insert into image (id, account_id, label, created, updated, created_by, size, type, status,
            number, region, engine)
        select 'private/7', account_id, 'own', now(), now(), 'admin', 1, 'manual', 'available',
            7, 'us-lake', 'simulated'
        from api_user where id = $1
        """,
        user_id,
    )
    bearer = {"Authorization": f"Bearer {other}"}
    assert await get(served, "/images", **bearer) == await get(served, "/images")
    assert (await get(served, "/images/roost/debian12", **bearer))[0] == 200
    assert (await get(served, "/images/private/7", **bearer))[0] == 404
    status, _ = await get(served, "/regions", Authorization=f"Bearer {other}")
    assert status == 200


async def test_private_images_are_seen_with_their_accounts_token(served: RunningRoost) -> None:
    store = served.roost.store
    await store.execute(
        "insert into image (id, account_id, label, created, updated, created_by, size, type,"
        " status, number, region, engine) select 'private/100001', id, 'mine', '2024-01-01',"
        " '2024-01-01', 'me', 0, 'manual', 'available', 100001, 'us-lake', 'simulated' from account"
    )
    token = f"Bearer {served.token}"
    assert "private/100001" in await listed(served, "/images", Authorization=token)
    assert "private/100001" not in await listed(served, "/images")
    status, _ = await get(served, "/images/private/100001", Authorization=token)
    assert status == 200
    assert await get(served, "/images/private/100001") == (404, NOT_FOUND)
