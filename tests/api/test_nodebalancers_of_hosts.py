"""NodeBalancers of a region with several hosts: they are on the main host, their nodes anywhere."""

from collections.abc import AsyncIterator

import pytest

from roost.core.planes import Engines
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.hosts import REGION, Pair, sound, two_hosts
from tests.support.instances import INSTANCES
from tests.support.nodebalancers import BALANCERS, balancer, told


@pytest.fixture(scope="module")
async def pair(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Pair]:
    async with two_hosts(database_server, tmp_path_factory.mktemp("balanced")) as pair:
        yield pair


async def _node_on(pair: Pair, host: str) -> tuple[Json, str]:
    """An instance there, and its private address as a node has it."""
    row = await pair.made_on(host, private_ip=True, booted=False)
    held = await pair.client.get(f"{INSTANCES}/{row['id']}/ips")
    return row, f"{held['ipv4']['private'][0]['address']}:80"


async def test_a_node_of_another_host_goes_with_its_instance(pair: Pair) -> None:
    """Nothing is sent to its address when that is another's; what is left serves on."""
    gone, first = await _node_on(pair, "b")
    _, second = await _node_on(pair, "main")
    nodes = [{"label": "one", "address": first}, {"label": "two", "address": second}]
    made = await balancer(pair.client, configs=[{"port": 80, "nodes": nodes}])
    await told(pair.client, made["id"], "nodebalancer_create")
    path = f"{INSTANCES}/{gone['id']}"
    await pair.client.delete(path)
    await until(lambda: pair.client.send("GET", path), lambda answer: answer.status == 404)
    await told(pair.client, made["id"], "nodebalancer_node_delete")
    configs = f"{BALANCERS}/{made['id']}/configs"
    (config,) = (await pair.client.get(configs))["data"]
    rows = (await pair.client.get(f"{configs}/{config['id']}/nodes"))["data"]
    assert [each["label"] for each in rows] == ["two"]
    held = pair.main.services.get(Engines).of(BALANCER_PLANE, REGION)
    assert set(await held.statuses()) == {rows[0]["id"]}
    await sound(pair)
