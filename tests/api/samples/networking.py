"""Samples of addresses of instances."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def _second(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """One that can be deleted."""
    row = await client.post(f"{parent}/ips", {"type": "ipv4", "public": True})
    return str(row["address"])


SAMPLES = Samples(
    {"view_address_of_instance": Sample(_second, "192.0.2.254")},
    queries={"list_addresses": "skip_ipv6_rdns=true"},
)
