"""Samples of payments."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.payments import added, attempt


async def _method(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return await added(client)


async def _payment(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    await added(client)
    return int((await attempt(client, "5.00")).body["id"])


SAMPLES = Samples({"view_payment_method": Sample(_method), "view_payment": Sample(_payment)})
