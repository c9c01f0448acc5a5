"""Samples of addresses of instances."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.instances import made


async def _second(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """One that can be deleted."""
    row = await client.post(f"{parent}/ips", {"type": "ipv4", "public": True})
    return str(row["address"])


async def _range(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    instance = await made(client)
    body = {"prefix_length": 64, "compute_id": instance["id"]}
    row = await client.post("/networking/ipv6/ranges", body)
    return str(row["range"]).partition("/")[0]


async def _pool(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """The catalogue has one for each region."""
    return 0


SAMPLES = Samples(
    {
        "view_address_of_instance": Sample(_second, "192.0.2.254"),
        "view_ipv6_range": Sample(_range, "2001:db8::"),
    },
    rows={"list_ipv6_pools": _pool},
    queries={"list_addresses": "skip_ipv6_rdns=true"},
)
