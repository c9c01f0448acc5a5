"""Who cancels accounts, and what is charged (spec B account)."""

import asyncio
from datetime import datetime
from decimal import Decimal

import pytest

from roost.app.roost import Roost
from roost.core.context import Context
from roost.core.identity import Identity
from roost.engines.simulated.gateway import SimulatedGateway
from roost.resources.account.service import AccountError, make_parent
from roost.resources.cancellation import charge_service
from roost.resources.payments.engine import Gateways
from roost.resources.tokens.queries import find_identity
from roost.secrets import hash_token
from roost.services import Services
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.cancellation import balance, cancel, canceled, closed, owe, paid, use
from tests.support.client import Client, until
from tests.support.families import adopt
from tests.support.instances import INSTANCES, made
from tests.support.payments import DECLINED, added, attempt

INVALID = [(None, "Invalid Token")]
CHILDREN = [(None, "The account has active child accounts; cancel them first")]
ON_ITS_WAY = [(None, "A payment is on its way; cancel again when it has ended")]


async def charged(
    roost: Roost, account: Account, charges: list[tuple[str, Decimal]]
) -> list[Decimal]:
    """Those of the account: others are charged beside it."""
    sql = "select 'roost-payment-' || id as key from payment where account_id = $1"
    keys = {row["key"] for row in await roost.store.fetch(sql, account.id)}
    return [usd for key, usd in charges if key in keys]


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


async def test_nothing_is_owed(client: Client, roost: Roost, account: Account) -> None:
    """An account needs no card to leave."""
    await owe(roost, account.id, "-5.00")
    assert (await cancel(client)).status == 200
    found = await closed(roost, account.id)
    assert (found.comments, found.balance) == ("", Decimal(-5))
    assert await paid(roost, account.id) == []


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
    await use(roost, account.id)
    without = await cancel(client)
    ((_, reason),) = without.problems
    assert (without.status, "has no default payment method" in reason) == (409, True)
    method_id = await added(client, DECLINED)
    await owe(roost, account.id, "10.00")
    for _ in range(2):
        answer = await cancel(client)
        ((_, reason),) = answer.problems
        assert answer.status == 409
        assert reason.startswith("What the account owes could not be charged: the payment of $10.")
    await unchanged(client, roost, account)
    assert (await client.get(f"{INSTANCES}/{instance['id']}"))["status"] == "offline"
    assert [status for status, _ in await paid(roost, account.id)] == ["declined"] * 2
    await roost.store.execute(
        "update payment_method set expiry = $2 where id = $1", method_id, datetime(2020, 1, 1)
    )
    ((_, reason),) = (await cancel(client)).problems
    assert reason.endswith("its payment method has expired")
    await added(client)
    assert (await cancel(client)).status == 200
    assert len(await charged(roost, account, charges)) == 1
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
    await owe(roost, account.id, "10.00")
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


async def test_two_at_once(
    client: Client,
    nobody: Client,
    roost: Roost,
    account: Account,
    new_token: NewToken,
    charges: list[tuple[str, Decimal]],
) -> None:
    await added(client)
    await owe(roost, account.id, "30.00")
    clients = [client] + [nobody.as_user(await new_token(account)) for _ in range(3)]
    answers = await asyncio.gather(*(cancel(each) for each in clients))
    assert {answer.status for answer in answers} <= {200, 401}
    assert 200 in {answer.status for answer in answers}
    assert await paid(roost, account.id) == [("accepted", 30)]
    assert await charged(roost, account, charges) == [30]
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
    await owe(roost, account.id, "30.00")
    paying = asyncio.create_task(attempt(client, "25.00"))
    await asked.wait()
    canceling = asyncio.create_task(cancel(client))
    await asyncio.sleep(0)
    go.set()
    assert ((await canceling).status, (await paying).status) == (200, 200)
    assert await paid(roost, account.id) == [("accepted", 25), ("accepted", 5)]
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
    await owe(roost, account.id, "30.00")
    answer = await cancel(client)
    assert (answer.status, answer.problems) == (409, ON_ITS_WAY)
    await asked.wait()
    await unchanged(client, roost, account)
    go.set()
    await until(lambda: balance(roost, account.id), lambda left: left == 0)
    assert (await cancel(client)).status == 200
    assert await paid(roost, account.id) == [("accepted", 30)]


async def test_who_is_restricted_meanwhile_does_not_cancel(
    client: Client,
    roost: Roost,
    account: Account,
    held_charges: tuple[asyncio.Event, asyncio.Event],
) -> None:
    asked, go = held_charges
    await added(client)
    await owe(roost, account.id, "30.00")
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
    await use(roost, account.id)
    await added(client)
    await charge_service.charge_all(await context_of(client, roost), roost.requests)
    assert await canceled(roost, account.id) is None
    assert await balance(roost, account.id) < 0
    assert (await cancel(client)).status == 200
    assert len(await charged(roost, account, charges)) == 1
    assert (await closed(roost, account.id)).balance == 0


async def context_of(client: Client, roost: Roost, *instead: object) -> Context:
    assert client.token is not None
    identity: Identity | None = await find_identity(roost.store, hash_token(client.token))
    services = Services(*instead) if instead else roost.services
    return Context(caller=identity, db=roost.requests, services=services, clock=roost.clock)


async def test_without_a_gateway_the_operator_collects(
    client: Client, roost: Roost, account: Account
) -> None:
    await owe(roost, account.id, "30.00")
    context = await context_of(client, roost, Gateways(None))
    await charge_service.charge_all(context, roost.requests)
    assert await paid(roost, account.id) == []
