"""Samples of instances and of their parts."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.disks import quiet
from tests.support.instances import made
from tests.support.usage import measure


async def make_instance(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    compute_id = int((await made(client, tags=["blue"]))["id"])
    await measure(roost, compute_id)
    return compute_id


async def _backup(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    await client.post(f"{parent}/backups/enable")
    backup = await client.post(f"{parent}/backups", {"label": "sample"})
    await quiet(client, parent)
    return int(backup["id"])


async def _config(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await client.get(f"{parent}/configs"))["data"][0]["id"])


async def _disk(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await client.get(f"{parent}/disks"))["data"][0]["id"])


async def _interface(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await client.post(f"{parent}/interfaces", {"purpose": "public"}))["id"])


SAMPLES = Samples(
    {
        "view_instance": Sample(make_instance),
        "view_backup": Sample(_backup),
        "view_config": Sample(_config),
        "view_disk": Sample(_disk),
        "view_interface": Sample(_interface),
    }
)
