"""What the API offers: VPCs, their subnets and the addresses in them (reference: VPC)."""

from roost.resources.compute.records import VpcAddressRow
from roost.resources.vpcs import service
from roost.resources.vpcs.address_queries import ADDRESSES, ADDRESSES_OF_VPC
from roost.resources.vpcs.bodies import CreateSubnet, CreateVpc, UpdateSubnet, UpdateVpc
from roost.resources.vpcs.locks import check_exists
from roost.resources.vpcs.queries import SUBNETS, VPCS
from roost.resources.vpcs.records import SubnetRow, VpcRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Global, Listed, Read, Write
from roost.web.registry import Page, endpoint

_WRITE = ("vpc:read_write",)
_ADDRESSES = ("ips:read_only",)
_ALL = "/vpcs"
_ONE = f"{_ALL}/{{vpcId:int}}"
_SUBNETS = f"{_ONE}/subnets"
_SUBNET = f"{_SUBNETS}/{{vpcSubnetId:int}}"


@endpoint("GET", _ALL, grant=Listed("vpc"), returns=Page(VpcRow), filters=VPCS.columns)
async def list_vpcs(call: Call) -> bytes:
    """List VPCs.

    Those of the account; restricted users see those that are granted to them.
    """
    return await call.collection(VPCS, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Global("add_vpcs"),
    body=CreateVpc,
    returns=VpcRow,
    events=("vpc_create",),
)
async def create_vpc(call: Call, body: CreateVpc) -> bytes:
    """Create a VPC.

    With its first subnets, if you like. Instances of its region are put in a subnet by an
    interface of purpose `vpc`.
    """
    vpc_id = await service.create(call, body)
    return await fetch_record(call.db, VPCS, (call.account_id,), vpc_id)


@endpoint(
    "GET",
    f"{_ALL}/ips",
    scopes=_ADDRESSES,
    grant=Listed("vpc"),
    returns=Page(VpcAddressRow),
    filters=ADDRESSES.columns,
)
async def list_vpc_addresses(call: Call) -> bytes:
    """List the addresses in all VPCs.

    Of all configs of instances, whether they were booted with them or not.
    """
    return await call.collection(ADDRESSES, call.account_id)


@endpoint("GET", _ONE, grant=Read("vpc"), returns=VpcRow)
async def view_vpc(call: Call) -> bytes:
    """View a VPC.

    With its subnets, and the instances in them.
    """
    return await call.record(call.number("vpcId"), VPCS, call.account_id)


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Write("vpc"),
    body=UpdateVpc,
    of=view_vpc,
    returns=VpcRow,
    events=("vpc_update",),
)
async def update_vpc(call: Call, body: UpdateVpc) -> bytes:
    """Update a VPC.

    Its name and its description.
    """
    await service.update(call, call.number("vpcId"), body)
    return await fetch_record(call.db, VPCS, (call.account_id,), call.number("vpcId"))


@endpoint("DELETE", _ONE, scopes=_WRITE, grant=Write("vpc"), events=("vpc_delete",))
async def delete_vpc(call: Call) -> None:
    """Delete a VPC.

    With its subnets. It is refused while an interface of any config is in one of them.
    """
    await service.delete(call, call.number("vpcId"))


@endpoint(
    "GET",
    f"{_ONE}/ips",
    scopes=_ADDRESSES,
    grant=Read("vpc"),
    returns=Page(VpcAddressRow),
    filters=ADDRESSES.columns,
)
async def list_addresses_of_vpc(call: Call) -> bytes:
    """List the addresses in a VPC.

    And the networks that are routed to interfaces in it.
    """
    vpc_id = await check_exists(call, call.number("vpcId"))
    return await call.collection(ADDRESSES_OF_VPC, call.account_id, vpc_id)


@endpoint("GET", _SUBNETS, grant=Read("vpc"), returns=Page(SubnetRow), filters=SUBNETS.columns)
async def list_subnets(call: Call) -> bytes:
    """List the subnets of a VPC.

    They route to each other.
    """
    vpc_id = await check_exists(call, call.number("vpcId"))
    return await call.collection(SUBNETS, call.account_id, vpc_id)


@endpoint(
    "POST",
    _SUBNETS,
    scopes=_WRITE,
    grant=Write("vpc"),
    body=CreateSubnet,
    of=list_subnets,
    returns=SubnetRow,
    events=("subnet_create",),
)
async def create_subnet(call: Call, body: CreateSubnet) -> bytes:
    """Create a subnet of a VPC.

    Guests that run already find the way to it at their next boot, unless their default route is
    in the VPC.
    """
    vpc_id = call.number("vpcId")
    subnet_id = await service.create_subnet(call, vpc_id, body)
    return await fetch_record(call.db, SUBNETS, (call.account_id, vpc_id), subnet_id)


@endpoint("GET", _SUBNET, grant=Read("vpc"), returns=SubnetRow)
async def view_subnet(call: Call) -> bytes:
    """View a subnet of a VPC.

    With the instances in it.
    """
    scope = (call.account_id, call.number("vpcId"))
    return await call.record(call.number("vpcSubnetId"), SUBNETS, *scope)


@endpoint(
    "PUT",
    _SUBNET,
    scopes=_WRITE,
    grant=Write("vpc"),
    body=UpdateSubnet,
    of=view_subnet,
    returns=SubnetRow,
    events=("subnet_update",),
)
async def update_subnet(call: Call, body: UpdateSubnet) -> bytes:
    """Update a subnet of a VPC.

    Its name; its network stays.
    """
    vpc_id, subnet_id = call.number("vpcId"), call.number("vpcSubnetId")
    await service.update_subnet(call, vpc_id, subnet_id, body)
    return await fetch_record(call.db, SUBNETS, (call.account_id, vpc_id), subnet_id)


@endpoint("DELETE", _SUBNET, scopes=_WRITE, grant=Write("vpc"), events=("subnet_delete",))
async def delete_subnet(call: Call) -> None:
    """Delete a subnet of a VPC.

    It is refused while an interface of any config is in it.
    """
    await service.delete_subnet(call, call.number("vpcId"), call.number("vpcSubnetId"))
