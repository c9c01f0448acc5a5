"""VLANs and VPCs of instances on two hosts: each host is told where the others' are."""

from collections.abc import AsyncIterator
from ipaddress import IPv4Address, IPv4Network

import pytest

from roost.app.fsck import check_all
from roost.app.operator import drains
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.compute import overlay_fsck
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.overlay_engine import Overlay, RemoteGuest
from roost.settings import MAIN_HOST
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.hosts import REGION, Pair, sound, two_hosts
from tests.support.instances import INSTANCES
from tests.support.volumes import failing
from tests.support.vpcs import inside, made_vpc, subnet

MAIN, OTHER = IPv4Address("127.0.0.1"), IPv4Address("127.0.0.2")


@pytest.fixture(scope="module")
async def pair(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Pair]:
    async with two_hosts(database_server, tmp_path_factory.mktemp("overlays")) as pair:
        yield pair


def engine(pair: Pair, host: str) -> SimulatedInstances:
    found = pair.roost(host).services.get(Engines).of(INSTANCE_PLANE, REGION)
    assert isinstance(found, SimulatedInstances)
    return found


async def told(pair: Pair, host: str, wanted: Overlay) -> None:
    assert await until(engine(pair, host).overlay.get, lambda found: found == wanted) == wanted


def back_end(label: str) -> Json:
    return {"purpose": "vlan", "label": label}


async def private(pair: Pair, host: str, *interfaces: Json) -> tuple[Json, list[Json]]:
    """An instance of a host in these networks, and its interfaces."""
    row = await pair.made_on(host, booted=False)
    path = f"{INSTANCES}/{row['id']}/configs"
    (config,) = (await pair.client.get(path))["data"]
    path = f"{path}/{config['id']}/interfaces"
    return row, [await pair.client.post(path, each) for each in interfaces]


async def vlan_id(pair: Pair, label: str) -> int:
    found: int = await pair.main.store.fetchval("select id from vlan where label = $1", label)
    return found


def guest(host: IPv4Address, interface: Json) -> RemoteGuest:
    address, ranges = IPv4Address(interface["ipv4"]["vpc"]), interface["ip_ranges"]
    return RemoteGuest(host, address, tuple(map(IPv4Network, ranges)))


async def test_networks_follow_their_instances(pair: Pair) -> None:
    """By whatever changes rows: an interface that is made or deleted, a move, a deletion."""
    vpc = await made_vpc(pair.client, subnets=[subnet(1), subnet(2)])
    alone = await made_vpc(pair.client)
    one, (one_vpc, _, _) = await private(
        pair, MAIN_HOST, inside(vpc, 0), back_end("both"), back_end("alone")
    )
    ranges = ["10.9.0.0/24", "10.9.1.0/24"]
    two, (two_vpc, two_vlan, _) = await private(
        pair, "b", inside(vpc, 1, ip_ranges=ranges), back_end("both"), inside(alone)
    )
    vlan = await vlan_id(pair, "both")
    await told(
        pair,
        MAIN_HOST,
        Overlay(MAIN, {vlan: frozenset({OTHER})}, {vpc["id"]: frozenset({guest(OTHER, two_vpc)})}),
    )
    main_guest = frozenset({guest(MAIN, one_vpc)})
    await told(pair, "b", Overlay(OTHER, {vlan: frozenset({MAIN})}, {vpc["id"]: main_guest}))
    (config,) = (await pair.client.get(f"{INSTANCES}/{two['id']}/configs"))["data"]
    path = f"{INSTANCES}/{two['id']}/configs/{config['id']}/interfaces"
    await pair.client.delete(f"{path}/{two_vlan['id']}")
    await told(pair, "b", Overlay(OTHER, {}, {vpc["id"]: main_guest}))
    await sound(pair)
    await drains.migrate(pair.main.store, pair.main.settings, one["id"], "b")
    for host, own in ((MAIN_HOST, MAIN), ("b", OTHER)):
        await told(pair, host, Overlay(own))
    await drains.migrate(pair.main.store, pair.main.settings, two["id"], MAIN_HOST)
    await told(pair, MAIN_HOST, Overlay(MAIN, {}, {vpc["id"]: frozenset({guest(OTHER, one_vpc)})}))
    await pair.client.delete(f"{INSTANCES}/{one['id']}")
    await told(pair, MAIN_HOST, Overlay(MAIN))
    await sound(pair)


async def test_what_the_network_does_not_take_is_said_and_brought_later(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the worker that runs, and by `roost fsck --repair` where none does."""
    await private(pair, MAIN_HOST, back_end("late"))
    wanted = Overlay(MAIN, {await vlan_id(pair, "late"): frozenset({OTHER})})
    monkeypatch.setattr(overlay_fsck, "_PATIENCE_SECONDS", 0.0)
    async with failing(pair.main, "overlay_set", "the kernel refuses"):
        await private(pair, "b", back_end("late"))
        lines = list[str]()
        await check_all(pair.main, True, lines.append)
        text = f"VLANs and VPCs of region {REGION} do not reach their instances on other hosts"
        assert lines == [f"{text}; not repaired: the kernel refuses"]
    await told(pair, MAIN_HOST, wanted)
    await engine(pair, MAIN_HOST).overlay.lose()
    await check_all(pair.main, True, lines.append)
    assert lines[1:] == [f"{text}; told the network where they are"]
    await told(pair, MAIN_HOST, wanted)
