"""Samples of SSH keys."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.keys import KEY


async def _ssh_key(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await client.post("/profile/sshkeys", {"ssh_key": KEY}))["id"])


SAMPLES = Samples({"view_ssh_key": Sample(_ssh_key)})
