"""Samples of StackScripts."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.stackscripts import scripted


async def _stackscript(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await scripted(client))["id"])


SAMPLES = Samples({"view_stackscript": Sample(_stackscript)})
