"""Names, volumes and addresses of what is being deleted: free at once, or refused in plain words.

The deletion's job is held meanwhile; the table is in docs/lifecycle.md.
"""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

import pytest

from roost.app.roost import Roost
from roost.core.limits.queries import set_limit
from roost.jobs.kinds import Retry
from tests.api.conftest import Account
from tests.support.client import Client, Json, until
from tests.support.databases import DATABASES, database_body, made_database
from tests.support.drift import drift
from tests.support.firewalls import FIREWALLS, guarded
from tests.support.instances import INSTANCES, create_body, made, settled
from tests.support.object_storage import BUCKETS, made_bucket
from tests.support.object_storage import path_of as path_of_bucket
from tests.support.volumes import (
    VOLUMES,
    attached,
    failing,
    made_volume,
    paused,
    plugged,
    rested,
    running_instance,
    volume_events,
)
from tests.support.vpcs import VPCS, inside, made_vpc

RANGES = "/networking/ipv6/ranges"
ASSIGN, SHARE = "/networking/ips/assign", "/networking/ips/share"


def path_of(instance: Json) -> str:
    return f"{INSTANCES}/{instance['id']}"


async def gone(client: Client, instance: Json) -> None:
    await until(partial(client.send, "GET", path_of(instance)), lambda each: each.status == 404)


async def deleting(client: Client, instance: Json) -> None:
    """From now on, until the engine has let go of it."""
    assert await client.delete(path_of(instance)) == {}
    assert (await client.get(path_of(instance)))["status"] == "deleting"


async def test_the_label_of_an_instance(client: Client, roost: Roost) -> None:
    """However many want it, one gets it; the other one is still shown, by its id."""
    former = await made(client, label="web-1")
    async with paused(roost, "delete"):
        await deleting(client, former)
        answers = await asyncio.gather(
            *(client.send("POST", INSTANCES, create_body(label="web-1")) for _ in range(4))
        )
        assert sorted(answer.status for answer in answers) == [200, 400, 400, 400]
        [new] = [answer.body for answer in answers if answer.status == 200]
        rows = (await client.get(INSTANCES, filter={"label": "web-1"}))["data"]
        assert [row["id"] for row in rows] == [former["id"], new["id"]]
        other = await made(client, label="web-2")
        answer = await client.send("PUT", path_of(other), {"label": "web-1"})
        assert answer.status == 400
    await gone(client, former)
    assert (await settled(client, new["id"]))["label"] == "web-1"


@pytest.mark.parametrize("label", ["web-1", "w" * 64])
async def test_one_that_stays_has_another_label(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    former = await made(client, label=label)
    async with AsyncExitStack() as faults:
        async with paused(roost, "delete"):
            await client.delete(path_of(former))
            new = await made(client, label=label)
            await faults.enter_async_context(failing(roost, "delete", "no room"))
        row = await settled(client, former["id"])
    assert (row["status"], row["label"]) == ("offline", f"{label[:57]}-{former['id']}")
    assert (await client.get(path_of(new)))["label"] == label
    assert await drift(roost, f"instance {former['id']}", f"instance {new['id']}") == []


async def test_what_the_account_may_have(client: Client, roost: Roost, account: Account) -> None:
    former = await made(client)
    await set_limit(roost.store, account.id, "instances", 1)
    assert (await client.send("POST", INSTANCES, create_body())).status == 400
    async with paused(roost, "delete"):
        await deleting(client, former)
        await client.post(INSTANCES, create_body())
        assert (await client.send("POST", INSTANCES, create_body())).status == 400


@pytest.mark.spec("A volumes attach", "A volume freed")
@pytest.mark.parametrize("named", [False, True])
async def test_a_volume_goes_to_another_instance(client: Client, roost: Roost, named: bool) -> None:
    """By a request, or as a config names it; never to two guests at the same time."""
    former, other = await running_instance(client), await running_instance(client)
    volume = await made_volume(client)
    await attached(client, volume["id"], former["id"])
    async with paused(roost, "delete"):
        await deleting(client, former)
        await client.post(f"{VOLUMES}/{volume['id']}/detach")
        if named:
            [config] = (await client.get(f"{path_of(other)}/configs"))["data"]
            devices = {**config["devices"], "sdh": {"volume_id": volume["id"]}}
            await client.put(f"{path_of(other)}/configs/{config['id']}", {"devices": devices})
        else:
            body = {"compute_id": other["id"]}
            await client.post(f"{VOLUMES}/{volume['id']}/attach", body)
        assert (await client.get(f"{VOLUMES}/{volume['id']}"))["compute_id"] == other["id"]
        [config] = (await client.get(f"{path_of(former)}/configs"))["data"]
        assert not any(each and each["volume_id"] for each in config["devices"].values())
        assert await plugged(roost, volume["id"]) == former["id"]
        answer = await client.send("DELETE", f"{VOLUMES}/{volume['id']}")
        assert answer.status == 400, "another instance has it"
    await gone(client, former)
    assert (await rested(client, volume["id"]))["compute_id"] == other["id"]
    assert await plugged(roost, volume["id"]) == other["id"]
    assert ("volume_attach", "finished") in await volume_events(client, volume["id"])
    names = (f"instance {former['id']}", f"instance {other['id']}", f"volume {volume['id']}")
    assert await drift(roost, *names) == []


async def test_a_volume_of_one_that_stays_has_gone_all_the_same(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    former, other = await running_instance(client), await running_instance(client)
    volume = await made_volume(client)
    await attached(client, volume["id"], former["id"])
    async with AsyncExitStack() as faults:
        async with paused(roost, "delete"):
            await client.delete(path_of(former))
            await client.post(f"{VOLUMES}/{volume['id']}/attach", {"compute_id": other["id"]})
            await faults.enter_async_context(failing(roost, "delete", "no room"))
        assert (await settled(client, former["id"]))["status"] == "offline"
    assert (await rested(client, volume["id"]))["compute_id"] == other["id"]
    assert await plugged(roost, volume["id"]) == other["id"]
    assert await drift(roost, f"instance {former['id']}", f"volume {volume['id']}") == []


async def test_volumes_that_are_attached_while_deletions_end(client: Client, roost: Roost) -> None:
    other = await running_instance(client)
    volumes = []
    for number in range(6):
        former = await running_instance(client)
        volume = await made_volume(client, label=f"data-{number}")
        await attached(client, volume["id"], former["id"])
        volumes.append((former, volume))

    async def move(former: Json, volume: Json, wait: float) -> None:
        await client.delete(path_of(former))
        await asyncio.sleep(wait)
        path = f"{VOLUMES}/{volume['id']}"
        await client.post(f"{path}/attach", {"compute_id": other["id"]})

    await asyncio.gather(*(move(*pair, number / 40) for number, pair in enumerate(volumes)))
    for former, volume in volumes:
        await gone(client, former)
        assert (await rested(client, volume["id"]))["compute_id"] == other["id"]
        assert await plugged(roost, volume["id"]) == other["id"]


@pytest.mark.spec("B interface ipv4 vpc")
async def test_an_address_in_a_vpc(client: Client, roost: Roost) -> None:
    vpc = await made_vpc(client)
    mine = inside(vpc, ipv4={"vpc": "10.0.1.7"}, ip_ranges=["10.99.0.0/24"])
    former = await made(client, interfaces=[mine])
    async with paused(roost, "delete"):
        await deleting(client, former)
        answer = await client.send("POST", INSTANCES, create_body(interfaces=[mine]))
        reason = "10.0.1.7 is in use until its Compute, which is being deleted, is gone"
        assert answer.problems == [("interfaces[0].ipv4.vpc", reason)]
        next_one = await made(client, interfaces=[inside(vpc)])
        await client.delete(path_of(next_one))
    await gone(client, former)
    await made(client, interfaces=[mine])


@pytest.mark.spec("B networking ranges delete", "B networking 2", "B networking 3")
async def test_public_addresses_and_ranges(client: Client, roost: Roost) -> None:
    """They go with the instance; the range can be given up before."""
    former, other = await running_instance(client), await running_instance(client)
    body = {"prefix_length": 64, "compute_id": former["id"]}
    held_range = (await client.post(RANGES, body))["range"].partition("/")[0]
    await until(partial(client.get, "/account/events"), _all_over)
    address = former["ipv4"][0]
    async with paused(roost, "delete"):
        await deleting(client, former)
        reason = f"Compute {former['id']} is being deleted, with its addresses"
        moved = {"address": address, "compute_id": other["id"]}
        for path, wanted in (
            (ASSIGN, {"region": "us-lake", "assignments": [moved]}),
            (SHARE, {"compute_id": other["id"], "ips": [address]}),
        ):
            assert (await client.send("POST", path, wanted)).problems == [(None, reason)]
        answer = await client.send("POST", RANGES, {**body, "compute_id": other["id"]})
        [(_, reason)] = answer.problems
        assert f"Compute {former['id']}, which is being deleted" in reason
        await client.delete(f"{RANGES}/{held_range}")
        assert (await client.send("GET", f"{RANGES}/{held_range}")).status == 404
        new = await client.post(RANGES, {**body, "compute_id": other["id"]})
        assert new["range"].partition("/")[0] != held_range, "its guest may still send from it"
    await gone(client, former)
    leaving = "select count(*) from ip_leaving where compute_id = $1"
    assert await roost.store.fetchval(leaving, former["id"]) == 0
    await until(partial(client.get, "/account/events"), _all_over)
    assert await drift(roost, f"instance {former['id']}", f"instance {other['id']}") == []


def _all_over(page: Json) -> bool:
    return all(row["status"] not in ("scheduled", "started") for row in page["data"])


async def test_labels_of_other_things(client: Client, stranger: Client, roost: Roost) -> None:
    """While the engines still have what was deleted."""
    vpc = await made_vpc(client, label="net")
    instance = await running_instance(client, interfaces=[inside(vpc)])
    wall = await guarded(client, label="wall", devices={"computes": [instance["id"]]})
    volume = await made_volume(client, label="data")
    database = await made_database(client, label="orders")
    async with paused(roost, "delete", "firewall_apply", "volume_delete", "database_delete"):
        await deleting(client, instance)
        for path in (
            f"{VPCS}/{vpc['id']}",
            f"{FIREWALLS}/{wall['id']}",
            f"{VOLUMES}/{volume['id']}",
            f"{DATABASES}/{database['id']}",
        ):
            await client.delete(path)
            assert (await client.send("GET", path)).status == 404
        await made_vpc(client, label="net")
        await guarded(client, label="wall")
        await client.post(VOLUMES, {"label": "data", "region": "us-lake"})
        await client.post(DATABASES, database_body(label="orders"))
    await gone(client, instance)


async def test_the_name_of_a_domain(client: Client, stranger: Client) -> None:
    """Also another account's, at once."""
    body = {"domain": "was-deleted.example", "type": "master", "soa_email": "a@example.com"}
    domain = await client.post("/domains", body)
    await client.delete(f"/domains/{domain['id']}")
    theirs = await stranger.post("/domains", body)
    assert (await client.send("POST", "/domains", body)).status == 400
    await stranger.delete(f"/domains/{theirs['id']}")


async def test_the_label_of_a_bucket(
    client: Client, stranger: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one for all accounts, and leads S3 clients to what is there."""
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 60.0)
    row = await made_bucket(client)
    body = {"label": row["label"], "cluster": row["cluster"]}
    async with paused(roost), failing(roost, "bucket_delete", "busy"):
        await client.delete(path_of_bucket(row))
        reason = "The bucket of this label is being deleted"
        assert (await client.send("POST", BUCKETS, body)).problems == [("label", reason)]
        taken = "The cluster has a bucket of this label already"
        assert (await stranger.send("POST", BUCKETS, body)).problems == [("label", taken)]

    async def again() -> bool:
        return (await stranger.send("POST", BUCKETS, body)).status == 200

    await until(again, bool)
