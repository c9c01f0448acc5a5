"""Networks of instances on two hosts: each host is told where the others' are."""

from collections.abc import AsyncIterator, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Interface, IPv6Network
from typing import Any

import pytest

from roost.app.fsck import check_all
from roost.app.operator import drains
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.compute import overlay_fsck
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.overlay_engine import RemoteAddress
from roost.settings import MAIN_HOST
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.hosts import REGION, Pair, sound, two_hosts
from tests.support.instances import INSTANCES
from tests.support.volumes import failing
from tests.support.vpcs import inside, made_vpc, subnet

NOTHING: Mapping[int, Any] = {}
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


async def told(
    pair: Pair,
    host: str,
    vlans: Mapping[int, IPv4Address] = NOTHING,
    vpcs: Mapping[int, RemoteAddress] = NOTHING,
) -> None:
    """When a host's private networks have these others, one each."""

    async def networks() -> tuple[object, object] | None:
        overlay = await engine(pair, host).overlay.get()
        return None if overlay is None else (overlay.vlans, overlay.vpcs)

    wanted = tuple({key: frozenset({each}) for key, each in of.items()} for of in (vlans, vpcs))
    assert await until(networks, lambda found: found == wanted) == wanted


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


def guest(host: IPv4Address, interface: Json) -> RemoteAddress:
    address, ranges = IPv4Address(interface["ipv4"]["vpc"]), interface["ip_ranges"]
    return RemoteAddress(host, address, frozenset(map(IPv4Network, ranges)))


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
    await told(pair, MAIN_HOST, {vlan: OTHER}, {vpc["id"]: guest(OTHER, two_vpc)})
    await told(pair, "b", {vlan: MAIN}, {vpc["id"]: guest(MAIN, one_vpc)})
    (config,) = (await pair.client.get(f"{INSTANCES}/{two['id']}/configs"))["data"]
    path = f"{INSTANCES}/{two['id']}/configs/{config['id']}/interfaces"
    await pair.client.delete(f"{path}/{two_vlan['id']}")
    await told(pair, "b", vpcs={vpc["id"]: guest(MAIN, one_vpc)})
    await sound(pair)
    await drains.migrate(pair.main.store, pair.main.settings, one["id"], "b")
    for host in (MAIN_HOST, "b"):
        await told(pair, host)
    await drains.migrate(pair.main.store, pair.main.settings, two["id"], MAIN_HOST)
    await told(pair, MAIN_HOST, vpcs={vpc["id"]: guest(OTHER, one_vpc)})
    await pair.client.delete(f"{INSTANCES}/{one['id']}")
    await told(pair, MAIN_HOST)
    await sound(pair)


async def test_addresses_of_the_region_are_told(pair: Pair) -> None:
    """Public and private ones, and what is routed to them; they go with their instance."""
    row = await pair.made_on("b", booted=False, private_ip=True)
    body = {"prefix_length": 64, "compute_id": row["id"]}
    network = (await pair.client.post("/networking/ipv6/ranges", body))["range"]
    slaac = IPv6Interface(row["ipv6"]).ip
    wanted = {RemoteAddress(OTHER, IPv4Address(each)) for each in row["ipv4"]}
    wanted.add(RemoteAddress(OTHER, slaac, frozenset({IPv6Network(network)})))
    assert len(wanted) == 3

    async def found() -> set[RemoteAddress]:
        overlay = await engine(pair, MAIN_HOST).overlay.get()
        return set() if overlay is None else wanted & overlay.region

    assert await until(found, lambda found: found == wanted) == wanted
    await pair.client.delete(f"{INSTANCES}/{row['id']}")
    assert await until(found, lambda found: found == set()) == set()


async def test_what_the_network_does_not_take_is_said_and_brought_later(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the worker that runs, and by `roost fsck --repair` where none does."""
    here, _ = await private(pair, MAIN_HOST, back_end("late"))
    wanted = {await vlan_id(pair, "late"): OTHER}
    monkeypatch.setattr(overlay_fsck, "_PATIENCE_SECONDS", 0.0)
    async with failing(pair.main, "overlay_set", "the kernel refuses"):
        there, _ = await private(pair, "b", back_end("late"))
        text = f"networks of region {REGION} do not reach its instances on other hosts"
        assert await said(pair) == [f"{text}; not repaired: the kernel refuses"]
    await told(pair, MAIN_HOST, wanted)
    await engine(pair, MAIN_HOST).overlay.lose()
    assert await said(pair) == [f"{text}; told the network where they are"]
    await told(pair, MAIN_HOST, wanted)
    for row in (here, there):
        await pair.client.delete(f"{INSTANCES}/{row['id']}")
    await told(pair, MAIN_HOST)


async def said(pair: Pair) -> list[str]:
    """By `roost fsck --repair` of the region; others may not have been told anything yet."""
    lines = list[str]()
    await check_all(pair.main, True, lines.append)
    return [line for line in lines if f" {REGION} " in line]
