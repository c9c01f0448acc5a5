"""Samples of NodeBalancers, their configs and nodes."""

from roost.app.roost import Roost
from roost.ids import new_uuid
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.firewalls import guarded
from tests.support.nodebalancers import BALANCERS, balancer, private, told


async def _balancer(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """With a reading, so that it has statistics."""
    nodebalancer_id = int((await balancer(client, tags=["blue"]))["id"])
    await roost.store.execute(
        """
        insert into nodebalancer_amount (
            nodebalancer_id, at, seconds, connections, bytes_in, bytes_out)
        values ($1, $2, 300, 1, 2, 3)
        """,
        nodebalancer_id,
        roost.clock.seconds(),
    )
    return nodebalancer_id


async def _config(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    taken = (await client.get(f"{parent}/configs"))["data"]
    body = {"port": 8000 + len(taken)}
    return int((await client.post(f"{parent}/configs", body))["id"])


async def _node(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    _, address = await private(client)
    body = {"label": "web-1", "address": f"{address}:80"}
    return int((await client.post(f"{parent}/nodes", body))["id"])


async def _of_instance(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """One that the instance of that path is a node of."""
    held = (await client.get(f"{parent}/ips"))["ipv4"]["private"]
    if not held:
        held = [await client.post(f"{parent}/ips", {"type": "ipv4", "public": False})]
    found = await balancer(client)
    path = f"{BALANCERS}/{found['id']}/configs"
    config = await client.post(path, {"port": 80})
    body = {"label": "web-1", "address": f"{held[0]['address']}:80"}
    await client.post(f"{path}/{config['id']}/nodes", body)
    await told(client, found["id"], "nodebalancer_node_create")
    return int(found["id"])


async def _firewall(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """Before the NodeBalancer of that path."""
    devices = {"nodebalancers": [int(parent.rpartition("/")[2])]}
    return int((await guarded(client, label=f"f{new_uuid()[:8]}", devices=devices))["id"])


SAMPLES = Samples(
    {
        "view_nodebalancer": Sample(_balancer),
        "view_nodebalancer_config": Sample(_config),
        "view_nodebalancer_node": Sample(_node),
    },
    rows={
        "list_nodebalancers_of_instance": _of_instance,
        "list_firewalls_of_nodebalancer": _firewall,
    },
)
