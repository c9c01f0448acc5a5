"""Samples of tags."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.compute import make_instance
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def _tag(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """On an instance."""
    compute_id = await make_instance(client, roost, account, parent)
    body = {"label": "gold", "computes": [compute_id]}
    return str((await client.post("/tags", body))["label"])


SAMPLES = Samples({"list_tagged": Sample(_tag, "no-such-tag")})
