"""Transfers of instances between accounts (spec B account)."""

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from roost.app.roost import Roost
from roost.core.suspensions import SUSPENDED
from roost.jobs.kinds import JobArgs
from roost.jobs.queue import JobQueue
from roost.resources.payments.rules import DUE as DUE_AFTER
from roost.resources.payments.service import credit
from roost.resources.suspension.service import suspend
from roost.resources.transfers.jobs import DUE
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.support.blocking import blocks
from tests.support.client import Client, Json, until
from tests.support.drift import drift
from tests.support.firewalls import guarded
from tests.support.instances import INSTANCES, made, settled
from tests.support.invoices import owed
from tests.support.payments import added
from tests.support.transfers import TRANSFERS, offered
from tests.support.volumes import made_volume

BOTH = ("/account/entity-transfers", TRANSFERS)
LATE = [(None, "An account whose payment is past due cannot transfer anything")]
NOT_PENDING = [(None, "The transfer is not pending")]


@pytest.fixture
async def receiver(stranger: Client) -> Client:
    """Another account, with a card on file."""
    await added(stranger)
    return stranger


@pytest.mark.spec(
    "B entity-transfers list",
    "B entity-transfers create",
    "B entity-transfers view",
    "B entity-transfers accept",
)
@pytest.mark.parametrize("path", BOTH)
async def test_an_instance_goes_to_another_account(
    path: str, client: Client, receiver: Client, roost: Roost, account: Account
) -> None:
    instance = await made(client, tags=["blue"], label="web", backups_enabled=True)
    compute_id = instance["id"]
    before = await client.get(f"{INSTANCES}/{compute_id}")
    disks = (await client.get(f"{INSTANCES}/{compute_id}/disks"))["data"]
    row = await client.post(path, {"entities": {"computes": [compute_id]}})
    token = row["token"]
    assert token == token.upper()
    assert (row["status"], row["is_sender"]) == ("pending", True)
    assert row["entities"] == {"computes": [compute_id]}
    assert (await client.get(path))["data"] == [row]
    assert (await receiver.get(path))["data"] == []
    assert await receiver.get(f"{path}/{token}") == {**row, "is_sender": False}
    await receiver.post(f"{path}/{token}/accept")
    done = await receiver.get(f"{path}/{token}")
    assert (done["status"], done["is_sender"]) == ("completed", False)
    assert [each["token"] for each in (await receiver.get(path))["data"]] == [token]
    assert (await client.send("GET", f"{INSTANCES}/{compute_id}")).status == 404
    after = await receiver.get(f"{INSTANCES}/{compute_id}")
    assert after == {**before, "tags": [], "updated": after["updated"]}
    assert (await receiver.get(f"{INSTANCES}/{compute_id}/disks"))["data"] == disks
    assert [each["address"] for each in (await receiver.get("/networking/ips"))["data"]][:1] == [
        after["ipv4"][0]
    ]
    assert (await client.get(INSTANCES))["results"] == 0
    assert (await receiver.get(INSTANCES))["results"] == 1
    actions = [each["action"] for each in (await receiver.get("/account/events"))["data"]]
    assert actions.count("entity_transfer_accept") == 1
    sql = """
        select account_id = $2 as own, service, hourly is null as ended from ledger
        where resource_id = $1 and service in ('compute', 'backup') order by id
        """
    rows = [tuple(row) for row in await roost.store.fetch(sql, compute_id, account.id)]
    assert sorted(rows[-4:]) == [
        (False, "backup", False),
        (False, "compute", False),
        (True, "backup", True),
        (True, "compute", True),
    ]
    assert await drift(roost, f"instance {compute_id}") == []
    await receiver.delete(f"{INSTANCES}/{compute_id}")


async def test_who_sees_a_transfer(client: Client, receiver: Client, roost: Roost) -> None:
    token = await offered(client)
    await receiver.post(f"{TRANSFERS}/{token}/accept")
    third = await offered(client)
    await client.delete(f"{TRANSFERS}/{third}")
    assert (await receiver.send("GET", f"{TRANSFERS}/{third}")).status == 404
    assert (await receiver.send("DELETE", f"{TRANSFERS}/{token}")).status == 404


@pytest.mark.spec("B entity-transfers delete")
@pytest.mark.parametrize("path", BOTH)
async def test_what_is_canceled_goes_to_nobody(path: str, client: Client, receiver: Client) -> None:
    token = await offered(client)
    await client.delete(f"{path}/{token}")
    assert (await client.get(f"{path}/{token}"))["status"] == "canceled"
    assert (await receiver.send("POST", f"{path}/{token}/accept")).status == 404
    assert (await client.send("DELETE", f"{path}/{token}")).problems == NOT_PENDING
    assert (await receiver.get(INSTANCES))["data"] == []


async def test_what_nobody_accepts_is_stale(client: Client, receiver: Client, roost: Roost) -> None:
    token = await offered(client)
    await roost.store.execute(
        "update entity_transfer set expiry = $2 where token = $1",
        token,
        roost.clock.seconds() - timedelta(seconds=1),
    )
    assert (await receiver.send("POST", f"{TRANSFERS}/{token}/accept")).problems == NOT_PENDING
    await roost.services.get(JobQueue).enqueue(roost.store, DUE, JobArgs())
    await until(lambda: client.get(f"{TRANSFERS}/{token}"), lambda row: row["status"] == "stale")
    actions = [each["action"] for each in (await client.get("/account/events"))["data"]]
    assert actions.count("entity_transfer_stale") == 1


async def test_two_accept_at_once(
    client: Client, nobody: Client, new_account: NewAccount, new_token: NewToken
) -> None:
    token = await offered(client)
    others = [nobody.as_user(await new_token(await new_account())) for _ in range(4)]
    for other in others:
        await added(other)
    answers = await asyncio.gather(
        *(other.send("POST", f"{TRANSFERS}/{token}/accept") for other in others),
        client.send("DELETE", f"{TRANSFERS}/{token}"),
    )
    statuses = sorted(answer.status for answer in answers)
    assert statuses[0] == 200
    assert set(statuses[1:]) <= {400, 404}
    owners = [(await each.get(INSTANCES))["results"] for each in (client, *others)]
    assert sum(owners) == 1


async def test_a_delete_while_it_is_accepted(client: Client, receiver: Client) -> None:
    """It is one account's or gone, and nobody's twice."""
    for _ in range(3):
        token = await offered(client)
        (compute_id,) = (await client.get(f"{TRANSFERS}/{token}"))["entities"]["computes"]
        accepted, deleted = await asyncio.gather(
            receiver.send("POST", f"{TRANSFERS}/{token}/accept"),
            client.send("DELETE", f"{INSTANCES}/{compute_id}"),
        )
        assert (accepted.status, deleted.status) in ((200, 404), (400, 200), (404, 200))
        theirs = [each["id"] for each in (await receiver.get(INSTANCES))["data"]]
        assert (compute_id in theirs) is (accepted.status == 200)
        assert (await client.send("GET", f"{TRANSFERS}/{token}")).status == 200

    async def own() -> Json:
        return await client.get(INSTANCES)

    await until(own, lambda page: page["results"] == 0)


async def test_what_cannot_be_transferred(client: Client, roost: Roost) -> None:
    instance = await made(client)
    compute_id = instance["id"]
    await made_volume(client, compute_id=compute_id)
    await guarded(client, devices={"computes": [compute_id]})
    other = await made(client)
    await client.post("/networking/ips/share", {"compute_id": other["id"], "ips": instance["ipv4"]})
    config = (await client.get(f"{INSTANCES}/{compute_id}/configs"))["data"][0]
    await client.put(
        f"{INSTANCES}/{compute_id}/configs/{config['id']}",
        {"interfaces": [{"purpose": "vlan", "label": "private"}]},
    )
    body = {"entities": {"computes": [compute_id, other["id"]]}}
    refused = await client.send("POST", TRANSFERS, body)
    assert {field for field, _ in refused.problems} == {"entities.computes"}
    assert sorted(reason for _, reason in refused.problems) == [
        f"Compute {compute_id} has volumes",
        f"Compute {compute_id} is behind a firewall",
        f"Compute {compute_id} is in a VLAN or VPC",
        f"Compute {compute_id} shares addresses with others",
        f"Compute {other['id']} shares addresses with others",
    ]
    assert (await client.get(TRANSFERS))["data"] == []


async def test_an_instance_is_in_one_transfer(client: Client) -> None:
    compute_id = (await made(client))["id"]
    token = await offered(client, compute_id)
    body = {"entities": {"computes": [compute_id]}}
    reason = f"Compute {compute_id} is in another pending transfer"
    refused = await client.send("POST", TRANSFERS, body)
    assert refused.problems == [("entities.computes", reason)]
    await client.delete(f"{TRANSFERS}/{token}")
    await offered(client, compute_id)


@pytest.mark.parametrize("computes", [[], ["a"], [0], [2**70], list(range(1, 102)), None, [99]])
async def test_wrong_bodies(client: Client, computes: Json) -> None:
    refused = await client.send("POST", TRANSFERS, {"entities": {"computes": computes}})
    assert refused.status == 400
    assert all(str(field).startswith("entities.computes") for field, _ in refused.problems)


async def test_what_has_changed_since_it_was_offered(client: Client, receiver: Client) -> None:
    compute_id = (await made(client))["id"]
    token = await offered(client, compute_id)
    await made_volume(client, compute_id=compute_id)
    refused = await receiver.send("POST", f"{TRANSFERS}/{token}/accept")
    assert refused.problems == [("entities.computes", f"Compute {compute_id} has volumes")]
    gone = (await made(client))["id"]
    token = await offered(client, gone)
    await client.delete(f"{INSTANCES}/{gone}")
    await until(
        lambda: client.send("GET", f"{INSTANCES}/{gone}"), lambda answer: answer.status == 404
    )
    refused = await receiver.send("POST", f"{TRANSFERS}/{token}/accept")
    assert refused.problems == [("entities.computes", "A Compute of the transfer is gone")]


async def test_who_cannot_accept(
    client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    token = await offered(client)
    path = f"{TRANSFERS}/{token}/accept"
    own = await client.send("POST", path)
    assert own.problems == [(None, "A transfer is accepted by another account")]
    poor = await stranger.send("POST", path)
    assert poor.problems == [(None, "The account needs a payment method")]
    await added(stranger)
    async with roost.store.transaction() as db:
        await credit(db, account.id, Decimal("-3.00"), "test", None, roost.clock.seconds())
    refused = await stranger.send("POST", path)
    assert refused.problems == LATE


async def test_labels_and_grants(
    client: Client, receiver: Client, roost: Roost, new_user: NewUser, account: Account
) -> None:
    compute_id = (await made(client, label="web"))["id"]
    await made(receiver, label="web")
    user = await new_user(account, restricted=True)
    grants = f"/account/users/{user.username}/grants"
    body = {"compute": [{"id": compute_id, "permissions": "read_write"}]}
    await client.put(grants, body)
    await receiver.post(f"{TRANSFERS}/{await offered(client, compute_id)}/accept")
    assert (await receiver.get(f"{INSTANCES}/{compute_id}"))["label"] == f"compute{compute_id}"
    sql = "select count(*) from entity_grant where kind = 'compute' and entity_id = $1"
    assert await roost.store.fetchval(sql, compute_id) == 0
    assert await settled(receiver, compute_id)


async def test_a_token_is_the_same_in_lower_case(client: Client, receiver: Client) -> None:
    token = (await offered(client)).lower()
    assert (await receiver.get(f"{TRANSFERS}/{token}"))["token"] == token.upper()
    await receiver.post(f"{TRANSFERS}/{token}/accept")
    other = (await offered(receiver)).lower()
    await receiver.delete(f"{TRANSFERS}/{other}")


async def test_what_is_owed_but_not_due_is_no_obstacle(
    client: Client, receiver: Client, roost: Roost, account: Account
) -> None:
    now = roost.clock.seconds()
    await owed(roost.store, account.id, Decimal("3.00"), now - DUE_AFTER + timedelta(hours=1))
    await receiver.post(f"{TRANSFERS}/{await offered(client)}/accept")
    token = await offered(client)
    await owed(roost.store, account.id, Decimal("2.00"), now - DUE_AFTER - timedelta(hours=1))
    assert (await receiver.send("POST", f"{TRANSFERS}/{token}/accept")).problems == LATE
    body = {"entities": {"computes": [(await made(client))["id"]]}}
    assert (await client.send("POST", TRANSFERS, body)).problems == LATE


async def test_a_suspended_account_gives_nothing_away(
    client: Client, receiver: Client, roost: Roost, account: Account
) -> None:
    token, kept = await offered(client), await made(client)
    async with roost.store.transaction() as db:
        await suspend(db, account.id, "operator", "a breach", roost.clock.seconds())
        accepted = asyncio.create_task(receiver.send("POST", f"{TRANSFERS}/{token}/accept"))
        await until(lambda: blocks(roost, db), bool)
    told = (None, "The account that offers this transfer is suspended")
    assert ((await accepted).status, (await accepted).problems) == (403, [told])
    body = {"entities": {"computes": [kept["id"]]}}
    refused = await client.send("POST", TRANSFERS, body)
    assert (refused.status, refused.problems) == (403, [(None, SUSPENDED)])
    assert (await receiver.get(INSTANCES))["results"] == 0
