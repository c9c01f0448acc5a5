"""What becomes of what hangs on an instance, when that is rebuilt, cloned and deleted."""

from collections.abc import Awaitable, Callable

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.addresses import share_queries
from roost.resources.firewalls.neighbours import FirewallDevices
from roost.resources.images.neighbours import PrivateImages
from roost.resources.maintenance.neighbours import PlannedMaintenance
from roost.resources.networking.neighbours import SharedAddresses
from roost.resources.nodebalancers.node_neighbours import Nodes
from roost.resources.reverse_dns import queries as reverse_names
from roost.resources.reverse_dns.neighbours import NamesOfAddresses
from roost.resources.stackscripts.neighbours import DeployedStackScripts
from roost.resources.volumes.neighbours import VolumeAttachments
from roost.resources.vpcs.neighbours import VpcInterfaces
from tests.support.client import Client, Json, until
from tests.support.firewalls import filters, guarded, in_force
from tests.support.instances import INSTANCES, made, settled
from tests.support.nodebalancers import BALANCERS, balancer
from tests.support.stackscripts import STACKSCRIPTS, scripted
from tests.support.volumes import VOLUMES, made_volume, plugged, powered, running_instance

pytestmark = pytest.mark.spec("A volume freed", "B compute delete", "B networking 4")

Look = Callable[[Roost, Client, Json], Awaitable[object]]
"""What an instance has of a neighbour."""


async def _volumes(roost: Roost, client: Client, instance: Json) -> object:
    found = (await client.get(f"{INSTANCES}/{instance['id']}/volumes"))["data"]
    return [(row["label"], await plugged(roost, row["id"])) for row in found]


async def _names(roost: Roost, _client: Client, instance: Json) -> object:
    return await reverse_names.find_name(roost.store, instance["ipv4"][0], instance["id"])


async def _firewalls(roost: Roost, client: Client, instance: Json) -> object:
    """Those before it, and whether its engine filters by them."""
    found = (await client.get(f"{INSTANCES}/{instance['id']}/firewalls"))["data"]
    return [(row["label"], await filters(roost, instance)) for row in found]


async def _shared(roost: Roost, _client: Client, instance: Json) -> object:
    """How many may take over an address of it."""
    return len(await share_queries.sharers(roost.store, instance["ipv4"]))


async def _vpcs(_roost: Roost, client: Client, instance: Json) -> object:
    """The addresses that it has in VPCs."""
    found = await client.get("/vpcs/ips", filter={"compute_id": instance["id"]})
    return [row["address"] for row in found["data"]]


async def _images(_roost: Roost, client: Client, _instance: Json) -> object:
    """What is made of its disks is independent of it."""
    return (await client.get("/images", filter={"is_public": False}))["data"]


async def _maintenance(_roost: Roost, client: Client, _instance: Json) -> object:
    """None is planned here."""
    return (await client.get("/account/maintenance"))["data"]


async def _stackscripts(_roost: Roost, client: Client, _instance: Json) -> object:
    """How many instances are there that were made with one of the account's."""
    rows = (await client.get(STACKSCRIPTS, filter={"mine": True}))["data"]
    return sum(row["deployments_active"] for row in rows)


async def _nodes(_roost: Roost, client: Client, instance: Json) -> object:
    """What it is a node of."""
    found = (await client.get(f"{INSTANCES}/{instance['id']}/nodebalancers"))["data"]
    return [row["label"] for row in found]


LOOKS: dict[type, Look] = {
    Nodes: _nodes,
    SharedAddresses: _shared,
    FirewallDevices: _firewalls,
    PrivateImages: _images,
    VolumeAttachments: _volumes,
    NamesOfAddresses: _names,
    VpcInterfaces: _vpcs,
    PlannedMaintenance: _maintenance,
    DeployedStackScripts: _stackscripts,
}


@pytest.fixture
async def instance(roost: Roost, client: Client) -> Json:
    """One that runs, with one of every neighbour."""
    script = await scripted(client)
    row = await running_instance(client, stackscript_id=script["id"], private_ip=True)
    held = await client.get(f"{INSTANCES}/{row['id']}/ips")
    node = {"label": "web-1", "address": f"{held['ipv4']['private'][0]['address']}:80"}
    await balancer(client, label="shop", configs=[{"nodes": [node]}])
    await made_volume(client, compute_id=row["id"])
    await in_force(client, await guarded(client, devices={"computes": [row["id"]]}))
    other = await made(client)
    shared = {"compute_id": other["id"], "ips": row["ipv4"][:1]}
    await client.post("/networking/ips/share", shared)
    await until(
        lambda: client.get("/account/events", filter={"action": "ipaddress_update"}),
        lambda found: all(event["status"] == "finished" for event in found["data"]),
    )
    async with roost.store.transaction() as db:
        await reverse_names.set_name(db, row["ipv4"][0], row["id"], "host.example")
    return row


async def seen(roost: Roost, client: Client, instance: Json) -> list[object]:
    return [await look(roost, client, instance) for look in LOOKS.values()]


def test_every_neighbour_is_here() -> None:
    assert {type(each) for each in GROUPS.neighbours} == LOOKS.keys()


async def test_a_rebuilt_instance_keeps_them(roost: Roost, client: Client, instance: Json) -> None:
    before = await seen(roost, client, instance)
    guard, data = [("guard", True)], [("data", instance["id"])]
    assert before == [["shop"], 1, guard, [], data, "host.example", [], [], 1]
    body = {"image": "roost/debian12", "root_pass": "correct-Horse7battery"}
    await client.post(f"{INSTANCES}/{instance['id']}/rebuild", body)
    await until(
        lambda: client.get(f"{INSTANCES}/{instance['id']}"),
        lambda row: row["status"] == "running",
    )
    assert await seen(roost, client, instance) == before


async def test_a_clone_begins_without_them(roost: Roost, client: Client, instance: Json) -> None:
    before = await seen(roost, client, instance)
    await powered(client, instance["id"], "shutdown")
    body = {"type": "g1-standard-4", "region": "us-lake"}
    clone = await client.post(f"{INSTANCES}/{instance['id']}/clone", body)
    for each in (clone, instance):
        await settled(client, each["id"])
    assert await seen(roost, client, clone) == [[], 0, [], [], [], None, [], [], 1]
    await powered(client, instance["id"], "boot")
    assert await seen(roost, client, instance) == before


async def test_a_deleted_instance_lets_go_of_them(
    roost: Roost, client: Client, instance: Json
) -> None:
    path = f"{INSTANCES}/{instance['id']}"
    (volume,) = (await client.get(f"{path}/volumes"))["data"]
    (shop,) = (await client.get(f"{path}/nodebalancers"))["data"]
    await client.delete(path)
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    row = await client.get(f"{VOLUMES}/{volume['id']}")
    assert (row["status"], row["compute_id"]) == ("active", None)
    assert await plugged(roost, volume["id"]) is None
    assert await _names(roost, client, instance) is None
    assert await filters(roost, instance) is False
    assert await _shared(roost, client, instance) == 0
    assert await _stackscripts(roost, client, instance) == 0
    (config,) = (await client.get(f"{BALANCERS}/{shop['id']}/configs"))["data"]
    assert (await client.get(f"{BALANCERS}/{shop['id']}/configs/{config['id']}/nodes"))[
        "data"
    ] == []
