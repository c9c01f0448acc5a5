"""What is left of canceled accounts (spec B account)."""

import asyncio
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from roost.app.roost import Roost
from roost.core.fsck import Finding
from roost.ids import new_uuid
from roost.jobs.kinds import JobArgs, Retry
from roost.resources.billing.queries import due
from roost.resources.billing.service import differences
from roost.resources.cancellation.jobs import ERASE
from roost.resources.cancellation.watch_jobs import WATCH
from roost.resources.domains.queries import NewDomain
from roost.resources.domains.queries import insert as insert_domain
from roost.resources.payments.collect_service import collect
from roost.resources.tokens.queries import find_identity
from roost.secrets import hash_token
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.blocking import blocks
from tests.support.browser import Browser
from tests.support.cancellation import (
    cancel,
    canceled,
    closed,
    findings,
    left,
    owe,
    paid,
    use,
)
from tests.support.client import Client, until
from tests.support.databases import made_database
from tests.support.firewalls import guarded
from tests.support.instances import INSTANCES, create_body, made
from tests.support.invoices import owed
from tests.support.oauth import PASSWORD, App, is_in
from tests.support.object_storage import made_bucket, made_key
from tests.support.payments import added
from tests.support.stackscripts import scripted
from tests.support.transfers import offered
from tests.support.uploads import pending
from tests.support.volumes import VOLUMES, failing, made_volume, paused
from tests.support.vpcs import inside, made_vpc

INVALID = [(None, "Invalid Token")]


@pytest.mark.spec("B account cancel", "B account 2 balance")
async def test_everything_ends(client: Client, roost: Roost, account: Account) -> None:
    await added(client)
    await use(roost, account.id)
    vpc = await made_vpc(client)
    instance = await made(
        client, backups_enabled=True, interfaces=[{"purpose": "public"}, inside(vpc)], booted=True
    )
    await guarded(client, devices={"computes": [instance["id"]]})
    await client.post(VOLUMES, {"label": "attached", "compute_id": instance["id"]})
    await client.post(VOLUMES, {"label": "alone", "region": "us-lake"})
    await made_database(client)
    domain = {"domain": f"a{account.id}.example", "type": "master", "soa_email": "a@example.com"}
    await client.post("/domains", domain)
    await made_bucket(client)
    await made_key(client)
    await pending(client)
    await scripted(client)
    public = await scripted(client, is_public=True, label="for all")
    await client.post(
        "/account/oauth-clients", {"label": "app", "redirect_uri": "https://a.example"}
    )
    token = await offered(client, (await made(client))["id"])
    answer = await cancel(client, {"comments": "We move on."})
    assert (answer.status, answer.body) == (200, {"survey_link": ""})
    assert (await cancel(client)).problems == INVALID
    found = await closed(roost, account.id)
    assert (found.comments, found.canceled_by) == ("We move on.", account.username)
    assert await left(roost, account.id) == []
    assert await findings(roost, account.id) == []
    scripts = "select id from stackscript where account_id = $1"
    assert [row["id"] for row in await roost.store.fetch(scripts, account.id)] == [public["id"]]
    sql = "select status from entity_transfer where token = $1"
    assert await roost.store.fetchval(sql, token) == "canceled"
    assert await told(roost, account) == {
        *("compute_delete", "volume_delete", "database_delete", "dns_zone_delete"),
        *("firewall_delete", "vpc_delete", "stackscript_delete", "oauth_client_delete"),
        *("image_delete", "object_storage_cancel", "entity_transfer_cancel", "payment_submitted"),
    }
    await check_books(roost, account)


async def told(roost: Roost, account: Account) -> set[str]:
    """What events say that the user did in the end."""
    rows = await roost.store.fetch(
        """
        select action from event where account_id = $1 and username = $2
            and (action like '%delete' or action like '%cancel' or action = 'payment_submitted')
        """,
        account.id,
        account.username,
    )
    return {row["action"] for row in rows}


async def check_books(roost: Roost, account: Account) -> None:
    """One payment of one invoice, up to the moment of the cancellation, and no other."""
    ((status, usd),) = await paid(roost, account.id)
    sql = "select total, ends from invoice where account_id = $1 order by id"
    invoices, found = await roost.store.fetch(sql, account.id), await canceled(roost, account.id)
    assert found is not None
    assert (status, usd > 0) == ("accepted", True)
    assert float(sum(row["total"] for row in invoices)) == usd
    assert (invoices[-1]["ends"], found.balance) == (found.canceled, Decimal(0))
    later = roost.clock.now() + timedelta(days=62)
    assert account.id not in [each.id for each in await due(roost.store, later, account.id - 1, 1)]
    texts = [text async for text in differences(roost.store)]
    assert [text for text in texts if f"account {account.id}:" in text] == []


async def test_all_ways_in_are_closed(
    user_browser: Browser,
    client: Client,
    nobody: Client,
    roost: Roost,
    account: Account,
    app: App,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    others = nobody.as_user(await new_token(await new_user(account)))
    assert (await others.send("GET", "/profile")).status == 200
    assert await is_in(user_browser)
    late = await new_token(account)
    assert (await cancel(client)).status == 200
    for each in (client, others, nobody.as_user(late)):
        assert (await each.send("GET", "/profile")).status == 401
    await roost.store.execute("update token set revoked = null where hash = $1", hash_token(late))
    assert await find_identity(roost.store, hash_token(late)) is None
    assert not await is_in(user_browser)
    entered = await user_browser.log_in(account.username, PASSWORD)
    assert entered.error == "The user name or the password is not right."


async def test_nobody_charges_a_canceled_account(
    client: Client, roost: Roost, account: Account
) -> None:
    await added(client)
    assert (await cancel(client)).status == 200
    await closed(roost, account.id)
    await owed(roost.store, account.id, Decimal(10), datetime(2020, 1, 1))
    await collect(roost.store, roost.services, roost.clock.seconds())
    assert await paid(roost, account.id) == []


async def test_what_is_being_made_ends_too(client: Client, roost: Roost, account: Account) -> None:
    async with paused(roost, "volume_create", "start"):
        row = await client.post(VOLUMES, {"label": "new", "region": "us-lake"})
        compute = await client.post(INSTANCES, create_body(booted=True))
        await added(client)
        assert (await cancel(client)).status == 200
    await closed(roost, account.id)
    for table, key in (("volume", row["id"]), ("compute_instance", compute["id"])):
        sql = f"select count(*) from {table} where id = $1"
        assert await roost.store.fetchval(sql, key) == 0


async def test_a_deletion_that_fails_is_tried_again(
    client: Client, roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    await added(client)
    volume = await made_volume(client)
    failed = "select count(*) from event where entity_id = $1 and status = 'failed'"
    async with failing(roost, "volume_delete", "The storage does not answer."):
        assert (await cancel(client)).status == 200
        await until(
            lambda: roost.store.fetchval(failed, str(volume["id"])), lambda count: count > 0
        )
        assert await left(roost, account.id) == ["1 x volume"]
    await closed(roost, account.id)
    assert await left(roost, account.id) == []


async def test_a_write_that_is_open_is_waited_for(
    client: Client, roost: Roost, account: Account
) -> None:
    """The account ends before or after it, never within."""
    async with roost.store.transaction() as db:
        name = f"open{account.id}.example"
        new = NewDomain(account_id=account.id, domain=name, soa_email="a@example.com", serial=1)
        await insert_domain(db, new, roost.clock.now())
        canceling = asyncio.create_task(cancel(client))
        await until(lambda: blocks(roost, db), bool)
        assert await canceled(roost, account.id) is None
    assert (await canceling).status == 200
    await closed(roost, account.id)
    assert await left(roost, account.id) == []


async def test_what_came_late_is_found(client: Client, roost: Roost, account: Account) -> None:
    """A request that was under way, or a job that was ended by hand."""
    assert (await cancel(client)).status == 200
    await closed(roost, account.id)
    for mended_by in ("watch", "fsck"):
        (found,) = await until(lambda: _late(roost, account.id), bool)
        text = "is canceled, but has 1 x domain, and no job works on it"
        assert found.text == f"account {account.id} {text}"
        if mended_by == "fsck":
            assert await found.repair() == "a job ends it"
        else:
            await roost.queue.enqueue(roost.store, WATCH, JobArgs())
        await until(lambda: left(roost, account.id), lambda held: held == [])


async def _late(roost: Roost, account_id: int) -> list[Finding]:
    """What is found of a domain that comes late; nothing while a job of the clock is at it."""
    if await left(roost, account_id) == []:
        name = f"late-{new_uuid()}.example"
        new = NewDomain(account_id=account_id, domain=name, soa_email="a@example.com", serial=1)
        await insert_domain(roost.store, new, roost.clock.now())
    return await findings(roost, account_id)


async def test_users_are_erased_and_books_stay(
    client: Client, roost: Roost, account: Account, new_account: NewAccount
) -> None:
    await client.put("/account", {"company": "Heron Works", "email": "a@example.com"})
    await added(client)
    await owe(roost, account.id, "30.00")
    assert (await cancel(client, {"comments": "Bye."})).status == 200
    await closed(roost, account.id)
    await erased(roost, account, timedelta(days=89), expected=False)
    assert await users(roost, account) == 1
    await erased(roost, account, timedelta(days=91), expected=True)
    assert await users(roost, account) == 0
    row = await roost.store.fetchrow(
        "select company, email, cancel_comments, canceled_by from account where id = $1",
        account.id,
    )
    assert row is not None
    assert tuple(row) == ("", "", "", "")
    assert await paid(roost, account.id) == [("accepted", 30)]
    tokens = "select token from payment_method where account_id = $1"
    await until(lambda: roost.store.fetchval(tokens, account.id), lambda token: token == b"")
    assert (await new_account()).id != account.id


async def users(roost: Roost, account: Account) -> int:
    found: int = await roost.store.fetchval(
        "select count(*) from api_user where account_id = $1", account.id
    )
    return found


async def erased(roost: Roost, account: Account, age: timedelta, *, expected: bool) -> None:
    """The nightly job has run on an account of that age."""
    await roost.store.execute(
        "update account set canceled = $2 where id = $1",
        account.id,
        roost.clock.seconds() - age,
    )
    job = await roost.queue.enqueue(roost.store, ERASE, JobArgs())
    await until(
        lambda: roost.queue.find(roost.store, job.id),
        lambda found: found is None or found.finished is not None,
    )
    found = await canceled(roost, account.id)
    assert found is not None
    assert (found.erased is not None) is expected
