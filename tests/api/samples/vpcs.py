"""Samples of VPCs, subnets and addresses in them."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.instances import made
from tests.support.vpcs import inside, made_vpc, subnet


async def _vpc(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await made_vpc(client, subnets=[subnet(9)]))["id"])


async def _subnet(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await client.post(f"{parent}/subnets", subnet()))["id"])


async def _address(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    vpc = await made_vpc(client)
    return int((await made(client, interfaces=[inside(vpc)]))["id"])


async def _address_of_vpc(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    vpc = await client.get(parent)
    return int((await made(client, interfaces=[inside(vpc)]))["id"])


SAMPLES = Samples(
    {"view_vpc": Sample(_vpc), "view_subnet": Sample(_subnet)},
    rows={"list_vpc_addresses": _address, "list_addresses_of_vpc": _address_of_vpc},
)
