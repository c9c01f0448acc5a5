"""Samples of events."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.instances import made


async def _event(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    await made(client)
    return int((await client.get("/account/events"))["data"][0]["id"])


SAMPLES = Samples({"view_event": Sample(_event)}, queries={"stream_events": "seconds=0"})
