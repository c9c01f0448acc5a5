"""Samples of trusted devices."""

from roost.app.roost import Roost
from roost.resources.devices.service import remember_device
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def _device(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    await remember_device(roost.store, account.user_id, "browser", "::1", roost.clock.now())
    return int((await client.get("/profile/devices"))["data"][0]["id"])


SAMPLES = Samples({"view_trusted_device": Sample(_device)})
