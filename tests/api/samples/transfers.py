"""Samples of transfers."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.transfers import TRANSFERS, offered


async def _transfer(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """Of those that can be accepted the token is all that others have to know."""
    token = await offered(client)
    await client.delete(f"{TRANSFERS}/{token}")
    return token


_SAMPLE = Sample(_transfer, "00000000-0000-4000-8000-000000000000")
SAMPLES = Samples({"view_entity_transfer": _SAMPLE, "view_service_transfer": _SAMPLE})
