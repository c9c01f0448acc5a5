"""Cancelling accounts (spec B account): who may, what is charged, and what is left."""

import asyncio
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from roost.app.roost import Roost
from roost.core.context import Context
from roost.core.identity import Identity
from roost.engines.simulated.gateway import SimulatedGateway
from roost.jobs.kinds import JobArgs, Retry
from roost.resources.account.service import AccountError, make_parent
from roost.resources.billing.queries import due
from roost.resources.billing.service import differences
from roost.resources.cancellation import charge_service
from roost.resources.cancellation.jobs import ERASE
from roost.resources.cancellation.watch_jobs import WATCH
from roost.resources.domains.queries import NewDomain
from roost.resources.domains.queries import insert as insert_domain
from roost.resources.payments.engine import Gateways
from roost.resources.payments.service import collect, credit
from roost.resources.tokens.queries import find_identity
from roost.secrets import hash_token
from roost.services import Services
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.browser import Browser
from tests.support.cancellation import CANCEL, canceled, closed, findings, left
from tests.support.client import Answer, Client, Json, until
from tests.support.databases import made_database
from tests.support.families import adopt
from tests.support.firewalls import guarded
from tests.support.instances import INSTANCES, create_body, made
from tests.support.oauth import PASSWORD, App, is_in
from tests.support.object_storage import made_bucket, made_key
from tests.support.payments import DECLINED, PAYMENTS, added
from tests.support.stackscripts import scripted
from tests.support.transfers import offered
from tests.support.uploads import pending
from tests.support.volumes import VOLUMES, failing, made_volume, slow
from tests.support.vpcs import inside, made_vpc

INVALID = [(None, "Invalid Token")]
CHILDREN = [(None, "The account has active child accounts; cancel them first")]
ON_ITS_WAY = [(None, "A payment is on its way; cancel again when it has ended")]


async def cancel(client: Client, body: Json = None) -> Answer:
    return await client.send("POST", CANCEL, {} if body is None else body)


async def owe(roost: Roost, account: Account, usd: str) -> None:
    """As after an invoice."""
    async with roost.store.transaction() as db:
        await credit(db, account.id, -Decimal(usd), roost.clock.seconds())


async def use(roost: Roost, account: Account) -> None:
    """Something that costs a cent or two and has just begun."""
    await roost.store.execute(
        """
        insert into ledger (account_id, service, resource_id, at, label, plan, region, quantity,
            hourly, monthly, tags)
        values ($1, 'blockstorage', $1, $2, 'data', '', 'us-lake', 100, 0.00015, 0.1, '{}')
        """,
        account.id,
        roost.clock.seconds() - timedelta(seconds=1),
    )


async def paid(roost: Roost, account: Account) -> list[tuple[str, float]]:
    rows = await roost.store.fetch(
        "select status, usd from payment where account_id = $1 order by id", account.id
    )
    return [(row["status"], float(row["usd"])) for row in rows]


async def balance(roost: Roost, account: Account) -> Decimal:
    found: Decimal = await roost.store.fetchval(
        "select balance from account where id = $1", account.id
    )
    return found


@pytest.fixture
def charges(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Decimal]]:
    """What the gateway charges, by its keys."""
    made: list[tuple[str, Decimal]] = []
    charge = SimulatedGateway.charge

    async def note(gateway: SimulatedGateway, key: str, token: str, usd: Decimal) -> None:
        await charge(gateway, key, token, usd)
        made.append((key, usd))

    monkeypatch.setattr(SimulatedGateway, "charge", note)
    return made


@pytest.fixture
def held_charges(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """The gateway is asked, and answers when it is let go."""
    asked, go = asyncio.Event(), asyncio.Event()

    async def charge(gateway: SimulatedGateway, key: str, token: str, usd: Decimal) -> None:
        asked.set()
        await go.wait()

    monkeypatch.setattr(SimulatedGateway, "charge", charge)
    return asked, go


@pytest.mark.spec("B account cancel", "B account 2 balance")
async def test_everything_ends(
    client: Client, roost: Roost, account: Account, charges: list[tuple[str, Decimal]]
) -> None:
    await added(client)
    await use(roost, account)
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
    await check_books(roost, account, charges)


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


async def check_books(roost: Roost, account: Account, charges: list[tuple[str, Decimal]]) -> None:
    """One payment of one invoice, up to the moment of the cancellation, and no other."""
    ((_, usd),) = charges
    sql = "select total, ends from invoice where account_id = $1 order by id"
    invoices, found = await roost.store.fetch(sql, account.id), await canceled(roost, account.id)
    assert found is not None
    assert sum(row["total"] for row in invoices) == usd > 0
    assert (invoices[-1]["ends"], found.balance) == (found.canceled, Decimal(0))
    later = roost.clock.now() + timedelta(days=62)
    assert account.id not in [each.id for each in await due(roost.store, later, account.id - 1, 1)]
    texts = [text async for text in differences(roost.store)]
    assert [text for text in texts if f"account {account.id}:" in text] == []


async def test_nothing_is_owed(client: Client, roost: Roost, account: Account) -> None:
    """An account needs no card to leave."""
    await owe(roost, account, "-5.00")
    assert (await cancel(client)).status == 200
    found = await closed(roost, account.id)
    assert (found.comments, found.balance) == ("", Decimal(-5))
    assert await paid(roost, account) == []


@pytest.mark.parametrize(
    ("comments", "reason"),
    [("x" * 10001, "Length must be 0-10000 characters"), (5, "Must be a string")],
)
async def test_comments_are_bounded(
    client: Client, roost: Roost, account: Account, comments: object, reason: str
) -> None:
    answer = await cancel(client, {"comments": comments})
    assert (answer.status, answer.problems) == (400, [("comments", reason)])
    assert await canceled(roost, account.id) is None
    assert (await cancel(client, {"comments": "ü" * 10000})).status == 200


async def unchanged(client: Client, roost: Roost, account: Account) -> None:
    assert await canceled(roost, account.id) is None
    assert (await client.send("GET", "/account")).status == 200
    assert (await client.get("/account/invoices"))["data"] == []


@pytest.mark.spec("B account 2 balance")
async def test_a_charge_that_fails(
    client: Client, roost: Roost, account: Account, charges: list[tuple[str, Decimal]]
) -> None:
    """Nothing has happened, and the account may try again."""
    instance = await made(client)
    await use(roost, account)
    without = await cancel(client)
    ((_, reason),) = without.problems
    assert (without.status, "has no default payment method" in reason) == (409, True)
    method_id = await added(client, DECLINED)
    await owe(roost, account, "10.00")
    for _ in range(2):
        answer = await cancel(client)
        ((_, reason),) = answer.problems
        assert answer.status == 409
        assert reason.startswith("What the account owes could not be charged: the payment of $10.")
    await unchanged(client, roost, account)
    assert (await client.get(f"{INSTANCES}/{instance['id']}"))["status"] == "offline"
    assert [status for status, _ in await paid(roost, account)] == ["declined"] * 2
    await roost.store.execute(
        "update payment_method set expiry = $2 where id = $1", method_id, datetime(2020, 1, 1)
    )
    ((_, reason),) = (await cancel(client)).problems
    assert reason.endswith("its payment method has expired")
    await added(client)
    assert (await cancel(client)).status == 200
    assert len(charges) == 1
    assert (await closed(roost, account.id)).balance == 0


@pytest.mark.spec("B account 2")
async def test_restricted_users_do_not_cancel(
    nobody: Client, roost: Roost, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    user = await new_user(account, restricted=True)
    await roost.store.execute(
        "update api_user set account_access = 'read_write', rights = '{cancel_account}'"
        " where id = $1",
        user.user_id,
    )
    assert (await cancel(nobody.as_user(await new_token(user)))).status == 403
    assert await canceled(roost, account.id) is None


@pytest.mark.spec("B account 3 payments", "B account 3 cancel")
async def test_families(
    nobody: Client,
    roost: Roost,
    account: Account,
    new_account: NewAccount,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    """A parent ends its child by the proxy user, pays for it itself, and goes after it."""
    parent = await new_account()
    proxy = await adopt(roost, account.id, parent.id)
    above, child = nobody.as_user(await new_token(parent)), nobody.as_user(await new_token(account))
    assert (await cancel(child)).status == 403
    answer = await cancel(above)
    assert (answer.status, answer.problems) == (400, CHILDREN)
    await owe(roost, account, "10.00")
    token = (await above.post(f"/account/child-accounts/{proxy.euuid}/token"))["token"]
    assert (await cancel(nobody.as_user(token))).status == 200
    found = await closed(roost, account.id)
    assert (found.canceled_by, found.balance) == (proxy.username, Decimal(10))
    assert (await child.send("GET", "/profile")).status == 401
    assert (await above.get("/account/child-accounts"))["data"] == []
    path = f"/account/child-accounts/{proxy.euuid}/token"
    assert (await above.send("POST", path)).status == 404
    other = await new_account()
    with pytest.raises(AccountError, match="is canceled"):
        await make_parent(roost.store, roost.clock, account.id, other.id)
    assert (await cancel(above)).status == 200


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


async def test_two_at_once(
    client: Client,
    nobody: Client,
    roost: Roost,
    account: Account,
    new_token: NewToken,
    charges: list[tuple[str, Decimal]],
) -> None:
    await added(client)
    await owe(roost, account, "30.00")
    clients = [client] + [nobody.as_user(await new_token(account)) for _ in range(3)]
    answers = await asyncio.gather(*(cancel(each) for each in clients))
    assert {answer.status for answer in answers} <= {200, 401}
    assert 200 in {answer.status for answer in answers}
    assert await paid(roost, account) == [("accepted", 30)]
    assert [usd for _, usd in charges] == [30]
    assert (await closed(roost, account.id)).balance == 0


async def test_a_payment_in_flight(
    client: Client,
    roost: Roost,
    account: Account,
    held_charges: tuple[asyncio.Event, asyncio.Event],
) -> None:
    """It is waited for, and pays what it pays."""
    asked, go = held_charges
    await added(client)
    await owe(roost, account, "30.00")
    await client.post(PAYMENTS, {"usd": "25.00"})
    await asked.wait()
    canceling = asyncio.create_task(cancel(client))
    await asyncio.sleep(0)
    go.set()
    assert (await canceling).status == 200
    assert await paid(roost, account) == [("accepted", 25), ("accepted", 5)]
    assert (await closed(roost, account.id)).balance == 0


async def test_a_payment_that_takes_too_long(
    client: Client,
    roost: Roost,
    account: Account,
    held_charges: tuple[asyncio.Event, asyncio.Event],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The account is there until somebody cancels it again, who pays nothing more."""
    monkeypatch.setattr(charge_service, "PATIENCE", 0.3)
    asked, go = held_charges
    await added(client)
    await owe(roost, account, "30.00")
    answer = await cancel(client)
    assert (answer.status, answer.problems) == (409, ON_ITS_WAY)
    await asked.wait()
    await unchanged(client, roost, account)
    go.set()
    await until(lambda: balance(roost, account), lambda left: left == 0)
    assert (await cancel(client)).status == 200
    assert await paid(roost, account) == [("accepted", 30)]


async def test_who_is_restricted_meanwhile_does_not_cancel(
    client: Client,
    roost: Roost,
    account: Account,
    held_charges: tuple[asyncio.Event, asyncio.Event],
) -> None:
    asked, go = held_charges
    await added(client)
    await owe(roost, account, "30.00")
    canceling = asyncio.create_task(cancel(client))
    await asked.wait()
    sql = "update api_user set restricted = true where id = $1"
    await roost.store.execute(sql, account.user_id)
    go.set()
    assert (await canceling).status == 403
    assert await canceled(roost, account.id) is None


async def test_a_request_that_dies_after_the_charge(
    client: Client, roost: Roost, account: Account, charges: list[tuple[str, Decimal]]
) -> None:
    """What was paid is the account's credit; who cancels again pays no second time."""
    await use(roost, account)
    await added(client)
    await charge_service.charge_all(await context_of(client, roost), roost.requests)
    assert await canceled(roost, account.id) is None
    assert await balance(roost, account) < 0
    assert (await cancel(client)).status == 200
    assert len(charges) == 1
    assert (await closed(roost, account.id)).balance == 0


async def context_of(client: Client, roost: Roost, *instead: object) -> Context:
    assert client.token is not None
    identity: Identity | None = await find_identity(roost.store, hash_token(client.token))
    services = Services(*instead) if instead else roost.services
    return Context(caller=identity, db=roost.requests, services=services, clock=roost.clock)


async def test_without_a_gateway_the_operator_collects(
    client: Client, roost: Roost, account: Account
) -> None:
    await owe(roost, account, "30.00")
    context = await context_of(client, roost, Gateways(None))
    await charge_service.charge_all(context, roost.requests)
    assert await paid(roost, account) == []


async def test_nobody_charges_a_canceled_account(
    client: Client, roost: Roost, account: Account
) -> None:
    await added(client)
    assert (await cancel(client)).status == 200
    await closed(roost, account.id)
    await owe(roost, account, "10.00")
    await roost.store.execute(
        """
        insert into invoice (account_id, date, starts, ends, subtotal, tax, total, tax_summary,
            taxes, billing_source)
        values ($1, $2, $2, $2, 10, 0, 10, '[]', '{}', 'platform')
        """,
        account.id,
        datetime(2020, 1, 1),
    )
    await collect(roost.store, roost.services, roost.clock.seconds())
    assert await paid(roost, account) == []


async def test_what_is_being_made_ends_too(client: Client, roost: Roost, account: Account) -> None:
    async with slow(roost, "volume_create", "start"):
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
    waiting = "select count(*) from pg_locks where not granted"
    async with roost.store.transaction() as db:
        name = f"open{account.id}.example"
        new = NewDomain(account_id=account.id, domain=name, soa_email="a@example.com", serial=1)
        await insert_domain(db, new, roost.clock.now())
        canceling = asyncio.create_task(cancel(client))
        await until(lambda: roost.store.fetchval(waiting), lambda count: count > 0)
        assert await canceled(roost, account.id) is None
    assert (await canceling).status == 200
    await closed(roost, account.id)
    assert await left(roost, account.id) == []


async def test_what_came_late_is_found(client: Client, roost: Roost, account: Account) -> None:
    """A request that was under way, or a job that was ended by hand."""
    assert (await cancel(client)).status == 200
    await closed(roost, account.id)
    for mended_by in ("watch", "fsck"):
        name = f"{mended_by}{account.id}.example"
        new = NewDomain(account_id=account.id, domain=name, soa_email="a@example.com", serial=1)
        await insert_domain(roost.store, new, roost.clock.now())
        (found,) = await findings(roost, account.id)
        text = "is canceled, but has 1 x domain, and no job works on it"
        assert found.text == f"account {account.id} {text}"
        if mended_by == "fsck":
            assert await found.repair() == "a job ends it"
        else:
            await roost.queue.enqueue(roost.store, WATCH, JobArgs())
        await until(lambda: left(roost, account.id), lambda held: held == [])


async def test_users_are_erased_and_books_stay(
    client: Client, roost: Roost, account: Account, new_account: NewAccount
) -> None:
    await client.put("/account", {"company": "Heron Works", "email": "a@example.com"})
    await added(client)
    await owe(roost, account, "30.00")
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
    assert await paid(roost, account) == [("accepted", 30)]
    tokens = "select token from payment_method where account_id = $1"
    assert await roost.store.fetchval(tokens, account.id) == b""
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
