"""Samples of VLANs."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Samples, Value
from tests.support.client import Client
from tests.support.instances import made


async def _vlan(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await made(client, interfaces=[{"purpose": "vlan", "label": "a"}]))["id"])


SAMPLES = Samples({}, rows={"list_vlans": _vlan})
