"""Samples of personal access tokens."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def _token(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await client.post("/profile/tokens", {"label": "sample"}))["id"])


SAMPLES = Samples({"view_token": Sample(_token)})
