"""VLANs over HTTP: made with the first interface, gone with the last (spec B networking 6)."""

import asyncio

import pytest

from roost.app.roost import Roost
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.segments import Port
from roost.resources.compute.network_engine import PublicLink, VlanLink
from roost.resources.compute.rules import side_mac_address
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.disks import path_of, powered
from tests.support.instances import INSTANCES, made
from tests.support.stage import Stage

VLANS = "/networking/vlans"
PUBLIC = {"purpose": "public"}


def vlan(label: str, **changes: object) -> Json:
    return {"purpose": "vlan", "label": label, **changes}


async def seen(client: Client) -> list[tuple[str, str, list[int]]]:
    rows = (await client.get(VLANS))["data"]
    return [(row["label"], row["region"], row["computes"]) for row in rows]


async def config_of(client: Client, instance: Json) -> str:
    path = path_of(instance)
    (config,) = (await client.get(f"{path}/configs"))["data"]
    return f"{path}/configs/{config['id']}"


async def rows_of(roost: Roost, account: Account) -> list[tuple[int, str]]:
    rows = await roost.store.fetch(
        "select id, label from vlan where account_id = $1 order by id", account.id
    )
    return [(row["id"], row["label"]) for row in rows]


@pytest.mark.spec("B networking vlans", "B networking 6 new")
async def test_a_new_label_makes_one(client: Client) -> None:
    assert await seen(client) == []
    first = await made(client, interfaces=[PUBLIC, vlan("a"), vlan("b")])
    second = await made(client, interfaces=[vlan("b")])
    one, two = first["id"], second["id"]
    assert await seen(client) == [("a", "us-lake", [one]), ("b", "us-lake", [one, two])]
    (row,) = (await client.get(VLANS, filter={"label": "a"}))["data"]
    assert row == {"label": "a", "region": "us-lake", "computes": [one], "created": row["created"]}
    assert row["created"] == first["created"]
    config = await config_of(client, second)
    await client.post(f"{config}/interfaces", vlan("c"))
    assert ("c", "us-lake", [two]) in await seen(client)
    other = {"label": "more", "devices": {}, "interfaces": [vlan("a"), vlan("d")]}
    await client.post(f"{path_of(second)}/configs", other)
    assert await seen(client) == [
        ("a", "us-lake", [one, two]),
        ("b", "us-lake", [one, two]),
        ("c", "us-lake", [two]),
        ("d", "us-lake", [two]),
    ]


@pytest.mark.spec("B networking vlans")
async def test_one_goes_with_its_last_interface(
    client: Client, roost: Roost, account: Account
) -> None:
    first = await made(client, interfaces=[vlan("a"), vlan("b")])
    second = await made(client, interfaces=[vlan("a")])
    config = await config_of(client, first)
    held = await rows_of(roost, account)
    await client.put(config, {"interfaces": [PUBLIC, vlan("b")]})
    assert await seen(client) == [
        ("a", "us-lake", [second["id"]]),
        ("b", "us-lake", [first["id"]]),
    ]
    assert await rows_of(roost, account) == held, "they are the same"
    (_, last) = await client.get(f"{config}/interfaces")
    await client.delete(f"{config}/interfaces/{last['id']}")
    await client.delete(f"{INSTANCES}/{second['id']}")
    await until(lambda: seen(client), lambda rows: rows == [])
    assert await rows_of(roost, account) == []


async def test_uses_that_begin_and_end_at_once(client: Client, roost: Roost) -> None:
    """Nothing fails, and a VLAN is there exactly when an interface is in it."""
    configs = [await config_of(client, await made(client)) for _ in range(4)]
    for round_ in range(6):
        bodies: list[Json] = [
            {"interfaces": [vlan("x"), vlan("y")] if (at + round_) % 2 else []}
            for at in range(len(configs))
        ]
        await asyncio.gather(
            *(client.put(config, body) for config, body in zip(configs, bodies, strict=True))
        )
        assert [len(each[2]) for each in await seen(client)] == [2, 2]
    for config in configs:
        await client.put(config, {"interfaces": []})
    assert await seen(client) == []


@pytest.mark.spec("B networking vlans")
async def test_every_account_has_its_own(client: Client, stranger: Client, roost: Roost) -> None:
    mine = await made(client, interfaces=[vlan("a")])
    assert await seen(stranger) == []
    other = await made(stranger, interfaces=[vlan("a")])
    assert await seen(stranger) == [("a", "us-lake", [other["id"]])]
    assert await seen(client) == [("a", "us-lake", [mine["id"]])]
    for owner, instance in ((client, mine), (stranger, other)):
        await powered(owner, path_of(instance), "boot")
    again = await made(client, interfaces=[PUBLIC, vlan("a")])
    await powered(client, path_of(again), "boot")
    engine = Stage(roost).engine()
    assert isinstance(engine, SimulatedInstances)
    mac = side_mac_address(mine["id"], 0)
    assert await engine.hearers(Port(mine["id"], 0), mac) == {Port(again["id"], 1)}


@pytest.mark.spec("A auth 4")
async def test_restricted_users_see_what_is_granted(
    client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    first = await made(client, interfaces=[vlan("a")])
    await made(client, interfaces=[vlan("a"), vlan("b")])
    user = await new_user(account, restricted=True)
    restricted = client.as_user(await new_token(user))
    assert await seen(restricted) == []
    grants = {"compute": [{"id": first["id"], "permissions": "read_only"}]}
    await client.put(f"/account/users/{user.username}/grants", grants)
    assert await seen(restricted) == [("a", "us-lake", [first["id"]])]


@pytest.mark.spec("B interface purpose", "B interface order")
async def test_the_guest_finds_them_in_their_order(client: Client, roost: Roost) -> None:
    """eth0 first, each with a MAC address of its own and the address that was given."""
    interfaces = [vlan("a", ipam_address="10.0.0.1/24"), PUBLIC, vlan("b")]
    instance = await made(client, interfaces=interfaces)
    await powered(client, path_of(instance), "boot")
    spec = await Stage(roost).spec(instance["id"])
    first, public, last = spec.links
    assert isinstance(first, VlanLink)
    assert isinstance(last, VlanLink)
    assert public == PublicLink()
    assert (str(first.interface), last.interface) == ("10.0.0.1/24", None)
    assert first.vlan_id != last.vlan_id
    assert len({first.mac, spec.mac, last.mac}) == 3
    assert spec.ipv4[0].gateway is not None
