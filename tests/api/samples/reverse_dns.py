"""Samples of addresses with names."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.instances import made


async def _address(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """Whose name was set to what it is by default."""
    address = str((await made(client))["ipv4"][0])
    await client.put(f"/networking/ips/{address}", {"rdns": None})
    return address


SAMPLES = Samples({"view_address": Sample(_address, "192.0.2.254")})
