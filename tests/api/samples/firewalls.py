"""Samples of firewalls and their devices."""

from roost.app.roost import Roost
from roost.ids import new_uuid
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.firewalls import guarded
from tests.support.instances import made


async def _firewall(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await guarded(client, label=f"f{new_uuid()[:8]}", tags=["blue"]))["id"])


async def _device(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    body = {"id": (await made(client))["id"], "type": "compute"}
    return int((await client.post(f"{parent}/devices", body))["id"])


async def _of_instance(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """Before the instance of that path."""
    devices = {"computes": [int(parent.rpartition("/")[2])]}
    return int((await guarded(client, label=f"f{new_uuid()[:8]}", devices=devices))["id"])


SAMPLES = Samples(
    {"view_firewall": Sample(_firewall), "view_firewall_device": Sample(_device)},
    rows={"list_firewalls_of_instance": _of_instance},
)
