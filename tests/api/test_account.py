"""The account, its settings, availability and transfer over HTTP (spec B, Account)."""

import asyncio
import re
from pathlib import Path

import aiohttp
import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.billing.charges import month_start, next_month
from roost.resources.regions.rules import served
from roost.web.registry import Registry
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.client import Client, Contract, Json, until
from tests.support.instances import INSTANCES, create_body, made
from tests.support.server import running_roost, simulated

pytestmark = pytest.mark.spec("B account update")

PATH = "/account"
SETTINGS = "/account/settings"
AVAILABILITY = "/account/availability"
US_ZIP = "Must be a valid US zip code when the country is US"
STATE = "Must be the two-letter code of a state or province when the country is {}"

FULL = {
    "address_1": "24 Hill Road",
    "address_2": "Suite 101",
    "city": "Philadelphia",
    "company": "Heron & Söhne",
    "country": "US",
    "email": "billing@example.com",
    "first_name": "Ada",
    "last_name": "O'Heron",
    "phone": "215-555-0142",
    "state": "PA",
    "tax_id": "12-3456789",
    "zip": "19102-1234",
}
UNEDITABLE = {
    "active_promotions": [],
    "balance": 0,
    "balance_uninvoiced": 0,
    "billing_source": "platform",
    "credit_card": {"last_four": None, "expiry": None},
}


async def actions(client: Client) -> list[str]:
    return [event["action"] for event in (await client.get("/account/events"))["data"]]


async def act_as(roost: Roost, account: Account, user_type: str) -> None:
    """Before the first request, so that no process remembers what the user was."""
    await roost.store.execute(
        "update api_user set user_type = $2 where account_id = $1", account.id, user_type
    )


@pytest.mark.spec("B account view")
async def test_a_new_account(client: Client, roost: Roost, account: Account) -> None:
    row = await client.get(PATH)
    created = await roost.store.fetchval("select created from account where id = $1", account.id)
    regions = (await client.get("/regions"))["data"]
    assert row == {
        **dict.fromkeys(FULL, ""),
        **UNEDITABLE,
        "active_since": created.isoformat(),
        "capabilities": sorted({c for region in regions for c in region["capabilities"]}),
        "euuid": row["euuid"],
    }
    assert "Computes" in row["capabilities"]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", row["euuid"])
    answer = await client.send("GET", PATH)
    assert answer.headers["X-Customer-UUID"] == row["euuid"]


async def test_the_first_account_has_an_address(tmp_path: Path, database_url: str) -> None:
    """One that it can send back, like the user's."""
    settings = simulated(tmp_path, database_url)
    async with running_roost(settings) as running, aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        admin = Client(session, contract, running.url).as_user(running.token)
        for path in (PATH, "/profile", "/account/users/admin"):
            row = await admin.get(path)
            assert row["email"] == "admin@localhost.localdomain"
            assert await admin.put(path, row) == row
        assert (await admin.get("/account/notifications"))["data"] == []


async def test_update_and_event(client: Client, account: Account, stranger: Client) -> None:
    before, foreign = await client.get(PATH), await stranger.get(PATH)
    changed = await client.put(PATH, FULL)
    assert changed == {**before, **FULL}
    assert await client.get(PATH) == changed
    assert await client.put(PATH, changed) == changed
    assert await client.put(PATH, {}) == changed
    assert await client.put(PATH, dict.fromkeys(FULL)) == changed
    assert await client.put(PATH, {"phone": ""}) == {**changed, "phone": ""}
    assert await stranger.get(PATH) == foreign
    assert await actions(client) == ["account_update"] * 5
    event = (await client.get("/account/events"))["data"][-1]
    assert event["username"] == account.username
    assert event["status"] == "notification"
    assert event["entity"] == {"id": None, "label": None, "type": "account", "url": "/v4/account"}


@pytest.mark.parametrize("field", ["active_since", "capabilities", *UNEDITABLE])
async def test_what_can_not_be_edited_is_ignored(client: Client, field: str) -> None:
    before = await client.get(PATH)
    assert await client.put(PATH, {field: "something else"}) == before


@pytest.mark.spec("B account 1", "B errors conditions")
@pytest.mark.parametrize(
    ("stored", "sent", "problems"),
    [
        ({"country": "DE", "zip": "ABC"}, {"country": "US"}, [("zip", US_ZIP)]),
        ({"country": "DE", "zip": ""}, {"country": "US"}, [("zip", US_ZIP)]),
        ({}, {"country": "US"}, [("zip", US_ZIP)]),
        ({"country": "US", "zip": "19102"}, {"zip": "ABC"}, [("zip", US_ZIP)]),
        ({"country": "US", "zip": "19102"}, {"zip": ""}, [("zip", US_ZIP)]),
        (
            {"country": "DE", "state": "Bayern", "zip": "80331"},
            {"country": "US"},
            [("state", STATE.format("US"))],
        ),
        ({"country": "CA"}, {"state": "PA"}, [("state", STATE.format("CA"))]),
        (
            {"country": "DE", "state": "Bayern", "zip": "A"},
            {"country": "US"},
            [("state", STATE.format("US")), ("zip", US_ZIP)],
        ),
    ],
    ids=str,
)
async def test_the_country_with_what_is_stored(
    client: Client, stored: Json, sent: Json, problems: list[tuple[str, str]]
) -> None:
    before = await client.put(PATH, stored)
    answer = await client.send("PUT", PATH, sent)
    assert (answer.status, answer.problems) == (400, problems)
    assert await client.get(PATH) == before
    assert await actions(client) == ["account_update"]


@pytest.mark.spec("B account 1")
@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ({"country": "DE", "zip": "80331"}, {"country": "US"}),
        ({"zip": "ABC"}, {"country": "US", "zip": "19102"}),
        ({"country": "US", "zip": "19102"}, {"country": "CA", "zip": "K1A0B1", "state": "ON"}),
        ({"country": "US", "zip": "19102"}, {"country": ""}),
        ({"country": "US", "zip": "19102"}, {"state": "AE"}),
        ({"country": "US", "zip": "19102"}, {"phone": "1"}),
    ],
    ids=str,
)
async def test_a_country_that_fits(client: Client, stored: Json, sent: Json) -> None:
    before = await client.put(PATH, stored)
    assert await client.put(PATH, sent) == {**before, **sent}


async def test_all_that_is_wrong_is_told_and_nothing_is_written(client: Client) -> None:
    before = await client.get(PATH)
    bad = {"zip": "1 2", "company": "<b>", "email": "x", "country": "XX", "phone": 5}
    answer = await client.send("PUT", PATH, {**FULL, **bad})
    fields = [field for field, _ in answer.problems]
    assert (answer.status, fields) == (400, ["company", "country", "email", "phone", "zip"])
    assert await client.get(PATH) == before
    assert await actions(client) == []


@pytest.mark.spec("B account 3")
async def test_users_of_a_child_account_can_not_update_it(
    nobody: Client, roost: Roost, new_account: NewAccount, new_token: NewToken
) -> None:
    account = await new_account()
    await act_as(roost, account, "child")
    client = nobody.as_user(await new_token(account))
    answer = await client.send("PUT", PATH, {"phone": "1"})
    assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])
    assert (await client.get(PATH))["phone"] == ""


@pytest.mark.spec("B account 3 company")
async def test_the_company_of_a_parent_can_not_be_changed(
    client: Client, roost: Roost, account: Account, new_account: NewAccount
) -> None:
    before = await client.put(PATH, {"company": "Heron"})
    child = await new_account()
    await roost.store.execute(
        "update account set parent_id = $2 where id = $1", child.id, account.id
    )
    refused = [("company", "The company of a parent account can't be changed")]
    for company in ("Egret", ""):
        answer = await client.send("PUT", PATH, {"company": company, "phone": "1"})
        assert (answer.status, answer.problems) == (400, refused)
    assert await client.put(PATH, {"phone": "1", **before}) == before
    await roost.store.execute("update account set company = '' where id = $1", account.id)
    assert (await client.put(PATH, {"company": "Heron"}))["company"] == "Heron"
    assert (await client.put(PATH, {"company": "Heron", "phone": "1"}))["phone"] == "1"


@pytest.mark.spec("B authentication grants")
@pytest.mark.parametrize(
    ("access", "may_read", "may_write"),
    [(None, 403, 403), ("read_only", 200, 403), ("read_write", 200, 200)],
)
async def test_a_restricted_user_needs_account_access(
    nobody: Client,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
    access: str | None,
    may_read: int,
    may_write: int,
) -> None:
    user = await new_user(account, restricted=True)
    await roost.store.execute(
        "update api_user set account_access = $2 where id = $1", user.user_id, access
    )
    client = nobody.as_user(await new_token(user))
    for path in (PATH, SETTINGS, AVAILABILITY, f"{AVAILABILITY}/us-lake", "/account/transfer"):
        assert (await client.send("GET", path)).status == may_read
    for path in (PATH, SETTINGS):
        assert (await client.send("PUT", path, {})).status == may_write


@pytest.mark.spec("B account 10")
async def test_settings(client: Client) -> None:
    row = await client.get(SETTINGS)
    assert row == {
        "managed": False,
        "longview_subscription": None,
        "network_helper": True,
        "backups_enabled": False,
        "object_storage": "disabled",
    }
    changed = await client.put(SETTINGS, {**row, "network_helper": False, "managed": True})
    assert changed == {**row, "network_helper": False}
    assert await client.get(SETTINGS) == changed
    answer = await client.send("PUT", SETTINGS, {"network_helper": 1, "backups_enabled": True})
    assert answer.problems == [("network_helper", "Must be true or false")]
    assert await client.get(SETTINGS) == changed
    assert await actions(client) == ["account_settings_update"]
    assert (await client.put(SETTINGS, {"backups_enabled": True}))["backups_enabled"] is True


async def test_the_managed_service_is_charged_for_each_instance(
    client: Client, roost: Roost, account: Account
) -> None:
    """Once it is enabled, of those that are there and of those that come."""
    one = await made(client)
    for _ in range(2):
        assert await client.post(f"{SETTINGS}/managed-enable") == {}
    settings = await client.get(SETTINGS)
    assert settings["managed"] is True
    assert await client.put(SETTINGS, {**settings, "managed": False}) == settings
    other = await made(client)
    await client.send("DELETE", f"{INSTANCES}/{other['id']}")

    async def charged() -> list[tuple[object, ...]]:
        sql = """
            select resource_id, monthly::float from ledger
            where account_id = $1 and service = 'managed' order by id
            """
        return [tuple(row) for row in await roost.store.fetch(sql, account.id)]

    found = await until(charged, lambda rows: len(rows) == 3)
    assert found == [(one["id"], 100.0), (other["id"], 100.0), (other["id"], None)]
    assert (await actions(client)).count("managed_enabled") == 1
    ticket = {"summary": "It is slow", "description": "Since noon", "managed_issue": True}
    assert (await client.post("/support/tickets", ticket))["summary"] == "It is slow"


async def test_the_managed_service_waits_for_instances_that_are_being_made(
    client: Client, roost: Roost, account: Account
) -> None:
    """Else nobody would be charged for them."""
    waiting = """
        select exists (select from pg_stat_activity
            where wait_event_type = 'Lock' and query like '%update account a set managed%')
        """
    async with roost.store.transaction() as db:
        await db.execute("select from account where id = $1 for key share", account.id)
        enabling = asyncio.create_task(client.post(f"{SETTINGS}/managed-enable"))
        await until(lambda: roost.store.fetchval(waiting), bool)
    assert await enabling == {}


async def test_the_managed_service_needs_the_right_to_write(
    client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    somebody = client.as_user(await new_token(await new_user(account, restricted=True)))
    assert (await somebody.send("POST", f"{SETTINGS}/managed-enable")).status == 403
    assert (await client.get(SETTINGS))["managed"] is False


@pytest.mark.spec("B account availability list", "B account availability view")
async def test_availability(client: Client) -> None:
    regions = {row["id"]: row["capabilities"] for row in (await client.get("/regions"))["data"]}
    four = ["Block Storage", "Computes", "Kubernetes", "NodeBalancers"]
    page = await client.get(AVAILABILITY)
    assert page["results"] == len(regions) > 1
    for row in page["data"]:
        assert row["available"] == [each for each in four if each in regions[row["region"]]]
        assert row["unavailable"] == [each for each in four if each not in row["available"]]
        assert await client.get(f"{AVAILABILITY}/{row['region']}") == row
        assert {"Block Storage", "Computes", "NodeBalancers"} <= set(row["available"])
        assert "Kubernetes" in row["unavailable"]
    assert (await client.send("GET", f"{AVAILABILITY}/nowhere")).status == 404


@pytest.mark.spec("B account 10")
async def test_transfer(roost: Roost, client: Client, account: Account) -> None:
    """Instances of a whole month count whole, one of its middle for half of it."""
    pool = {"billable": 0, "quota": 0, "used": 0, "region_transfers": []}
    assert await client.get("/account/transfer") == pool
    ids = [(await client.post(INSTANCES, create_body()))["id"] for _ in range(2)]
    now = roost.clock.seconds()
    month = month_start(now)
    following = next_month(month)
    # Whoever runs this before the middle of a month has to do with what is of now.
    times = (month, min(month + (following - month) / 2, now))
    async with roost.store.transaction() as db:
        # Nobody else changes what the ledger says.
        await db.execute("set local session_replication_role = replica")
        await db.executemany(
            "update ledger set at = $2 where service = 'compute' and resource_id = $1",
            zip(ids, times, strict=True),
        )
    quota = 1000 + 1000 * (following - times[1]) // (following - month)
    assert await client.get("/account/transfer") == {**pool, "quota": quota}


async def test_no_region_announces_what_is_not_served(client: Client) -> None:
    words = {word for row in (await client.get("/regions"))["data"] for word in row["capabilities"]}
    words |= set((await client.get("/account"))["capabilities"])
    assert words <= served(Registry(GROUPS.endpoints).shapes())


def test_what_is_served_follows_from_the_endpoints() -> None:
    assert served({"/volumes", "/vpcs"}) == {"Block Storage", "VPCs"}
