"""What changes an instance, or binds something to it, while the instance goes to another account,
is deleted, begins to rest or ends with its account.

Each operation comes in the middle of each of these: after their rows are written, and before they
are committed. Nothing is bound across accounts, and what rests goes on resting.
"""

import asyncio

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core import instance_queries
from roost.core.bindings import check_bindings
from roost.core.context import Context
from roost.core.fsck import Installation
from roost.resources.cancellation import queries as cancellation
from roost.resources.cancellation.service import start as close
from roost.resources.compute import deletion_service, suspension_queries
from roost.resources.suspension import service as suspensions
from roost.resources.tokens.queries import find_identity
from roost.resources.transfers import service as transfers
from roost.secrets import hash_token
from roost.store import Queries
from roost.web.registry import Endpoint
from tests.api.bindings import ALOOF, FITS, TIED, Attempt, attempt, found
from tests.api.conftest import Account
from tests.support.blocking import blocks
from tests.support.cancellation import closed
from tests.support.client import Answer, Client, until
from tests.support.drift import drift
from tests.support.firewalls import FIREWALLS, guarded
from tests.support.instances import INSTANCES, made
from tests.support.payments import added
from tests.support.transfers import TRANSFERS, offered
from tests.support.volumes import made_volume
from tests.support.vpcs import made_vpc

BINDING = [endpoint for endpoint in found() if endpoint.name not in ALOOF]

going = pytest.mark.parametrize(
    "endpoint", [each for each in BINDING if each.name not in TIED], ids=lambda e: e.name
)
every = pytest.mark.parametrize("endpoint", BINDING, ids=lambda e: e.name)


def test_who_is_listed() -> None:
    """A name that no operation has any more hides nothing."""
    names = {endpoint.name for endpoint in found()}
    assert {*ALOOF, *FITS, *TIED} <= names


async def _meanwhile(
    roost: Roost, client: Client, call: Attempt, db: Queries
) -> asyncio.Task[Answer]:
    """The call, when it is over or waits for that transaction."""
    task = asyncio.create_task(client.send(call.method, call.path, call.body))

    async def stands() -> bool:
        return task.done() or await blocks(roost, db)

    await until(stands, bool)
    return task


async def _context(roost: Roost, client: Client, db: Queries) -> Context:
    assert client.token is not None
    caller = await find_identity(roost.store, hash_token(client.token))
    return Context(caller=caller, db=db, services=roost.services, clock=roost.clock)


@going
async def test_it_goes_to_another_account(
    endpoint: Endpoint, client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    call = await attempt(endpoint, client, roost, account)
    await added(stranger)
    token = await offered(client, call.compute_id)
    async with roost.store.transaction() as db:
        await transfers.accept(await _context(roost, stranger, db), token)
        task = await _meanwhile(roost, client, call, db)
        assert not task.done(), f"{(await task).status} without waiting for the transfer"
    assert (await task).status in (400, 403, 404)
    assert (await stranger.get(f"{INSTANCES}/{call.compute_id}"))["id"] == call.compute_id
    assert await _mixed(roost, call.compute_id) == []
    assert await drift(roost, f"instance {call.compute_id}") == []


@going
async def test_it_was_bound_when_it_is_to_go(
    endpoint: Endpoint, client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    """What has come first is seen: it goes with all that it has, or not at all."""
    call = await attempt(endpoint, client, roost, account)
    await added(stranger)
    token = await offered(client, call.compute_id)
    first, second = await asyncio.gather(
        client.send(call.method, call.path, call.body),
        stranger.send("POST", f"{TRANSFERS}/{token}/accept"),
    )
    assert first.status in (200, 400, 403, 404)
    assert second.status in (200, 400)
    assert await _mixed(roost, call.compute_id) == []


@every
async def test_it_is_deleted(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    call = await attempt(endpoint, client, roost, account)
    async with roost.store.transaction() as db:
        await deletion_service.delete(
            await _context(roost, client, db), call.compute_id, keeps=False
        )
        task = await _meanwhile(roost, client, call, db)
    assert (await task).status in (200, 400, 403, 404)
    path = f"{INSTANCES}/{call.compute_id}"
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    assert await drift(roost, f"instance {call.compute_id}") == []


@every
async def test_it_begins_to_rest(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    """As its account is suspended."""
    call, now = await attempt(endpoint, client, roost, account), roost.clock.seconds()
    async with roost.store.transaction() as db:
        await suspensions.suspend(db, account.id, "operator", "a breach", now)
        await instance_queries.lock_any(db, call.compute_id)
        await suspension_queries.suspend(db, call.compute_id, "offline", now)
        task = await _meanwhile(roost, client, call, db)
    assert (await task).status in (200, 400, 403, 404)
    row = await client.get(f"{INSTANCES}/{call.compute_id}")
    assert row["status"] in ("billing_suspension", "deleting")


@every
async def test_its_account_is_canceled(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    """Whatever has been bound ends with the rest."""
    call, now = await attempt(endpoint, client, roost, account), roost.clock.seconds()
    async with roost.store.transaction() as db:
        await cancellation.lock(db, account.id)
        await cancellation.cancel(db, account.id, now, account.username, "")
        await close(db, roost.queue, account.id)
        task = await _meanwhile(roost, client, call, db)
    assert (await task).status in (200, 400, 401, 403, 404)
    await closed(roost, account.id)
    left = "select count(*) from compute_instance where account_id = $1"
    assert await roost.store.fetchval(left, account.id) == 0
    assert await _mixed(roost, call.compute_id) == []


async def _mixed(roost: Roost, *instances: int) -> list[str]:
    """What fsck says of these instances and other accounts; other tests have theirs."""
    names = [f"instance {number} " for number in instances]
    check = check_bindings(GROUPS.bindings)
    found = [each.text async for each in check(Installation(roost.store, roost.services))]
    return [text for text in found if any(name in text for name in names)]


async def test_what_is_bound_across_accounts_is_found(
    client: Client, stranger: Client, roost: Roost
) -> None:
    """As if somebody had written it by hand."""
    own, other = await made(client), await made(stranger)
    firewall = await guarded(client, devices={"computes": [own["id"]]})
    await roost.store.execute(
        "insert into firewall_device (firewall_id, compute_id, created, updated)"
        " values ($1, $2, now(), now())",
        firewall["id"],
        other["id"],
    )
    check = check_bindings(GROUPS.bindings)
    everything = check(Installation(roost.store, roost.services))
    name = f"firewall {firewall['id']} of account "
    [found] = [each async for each in everything if name in each.text]
    assert f" filters instance {other['id']} of account " in found.text
    assert await found.repair() == "took the instances of others out of it"
    assert await _mixed(roost, own["id"], other["id"]) == []
    rows = (await client.get(f"{FIREWALLS}/{firewall['id']}/devices"))["data"]
    assert [row["entity"]["id"] for row in rows] == [own["id"]]


async def test_every_binding_can_be_asked_for(
    client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    """A volume, an address, an instance and a VPC of somebody else."""
    own, other = await made(client), await made(stranger)
    volume, vpc = await made_volume(stranger), await made_vpc(stranger)
    store = roost.store
    await store.execute("update volume set compute_id = $2 where id = $1", volume["id"], own["id"])
    await store.execute(
        "insert into ip_share (address, compute_id) values ($1::text::inet, $2)",
        other["ipv4"][0],
        own["id"],
    )
    await store.execute(
        "insert into entity_grant (user_id, kind, entity_id, permissions)"
        " values ($1, 'compute', $2, 'read_only')",
        account.user_id,
        other["id"],
    )
    await store.execute(
        "insert into compute_interface (config_id, position, purpose, vpc_id, subnet_id, address,"
        " nat_1_1) select c.id, 7, 'vpc', $2, $3, '10.0.1.2/24', $4::text::inet"
        " from compute_config c where c.compute_id = $1",
        own["id"],
        vpc["id"],
        vpc["subnets"][0]["id"],
        other["ipv4"][0],
    )
    found = {text.split()[0] for text in await _mixed(roost, own["id"], other["id"])}
    assert found == {"user", "address", "volume", "VPC", "interface"}
    await store.execute("update volume set compute_id = null where id = $1", volume["id"])
    await store.execute("delete from ip_share where compute_id = $1", own["id"])
    await store.execute("delete from entity_grant where entity_id = $1", other["id"])
    await store.execute("delete from compute_interface where vpc_id = $1", vpc["id"])
    assert await _mixed(roost, own["id"], other["id"]) == []
