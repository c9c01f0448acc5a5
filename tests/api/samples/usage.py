"""Months for which instances have been measured (`samples.compute`)."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def _year(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return roost.clock.now().year


async def _month(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return roost.clock.now().month


SAMPLES = Samples(
    {}, values={"year": Sample(_year, missing=2000), "month": Sample(_month, missing=1)}
)
