"""Making and changing VPCs and subnets."""

from collections.abc import Sequence
from ipaddress import IPv4Network

from asyncpg import UniqueViolationError

from roost.core.access import give_to_creator
from roost.core.context import Context
from roost.core.events import log
from roost.core.limits.check import check_limits
from roost.errors import invalid
from roost.resources.vpcs import address_queries, queries, rules
from roost.resources.vpcs.bodies import CreateSubnet, CreateVpc, UpdateSubnet, UpdateVpc
from roost.resources.vpcs.entity import VPC
from roost.resources.vpcs.locks import lock, lock_subnet
from roost.resources.vpcs.queries import subnet_entity

LABEL_TAKEN = "Label must be unique among your VPCs"
FULL = f"A VPC has at most {rules.MAX_SUBNETS} subnets"
VPC_USED = "The VPC has interfaces of Computes: delete these first."
SUBNET_USED = "The subnet has interfaces of Computes: delete these first."


async def create(context: Context, body: CreateVpc) -> int:
    """The id of a new VPC."""
    _check_together(body.subnets)
    now = context.clock.seconds()
    values = {"label": body.label, "description": body.description, "region": body.region}
    vpc_id = await queries.insert(context.db, context.account_id, values, now)
    if vpc_id is None:
        raise invalid(LABEL_TAKEN, "label")
    await give_to_creator(context, VPC.name, vpc_id)
    for subnet in body.subnets:
        await queries.insert_subnet(context.db, vpc_id, subnet.label, subnet.ipv4, now)
    await log.notify(context, "vpc_create", VPC.entity(vpc_id, body.label))
    await check_limits(context, queries.LIMIT)
    return vpc_id


def _check_together(subnets: Sequence[CreateSubnet]) -> None:
    """400 when labels or networks of new subnets do not differ."""
    seen, labels = list[IPv4Network](), set[str]()
    for at, subnet in enumerate(subnets):
        if subnet.label in labels:
            raise invalid(rules.SUBNET_LABEL_TAKEN, f"subnets[{at}].label")
        other = rules.overlapping(IPv4Network(subnet.ipv4), seen)
        if other is not None:
            raise invalid(rules.OVERLAPS.format(other), f"subnets[{at}].ipv4")
        seen.append(IPv4Network(subnet.ipv4))
        labels.add(subnet.label)


async def update(context: Context, vpc_id: int, body: UpdateVpc) -> None:
    vpc, now = await lock(context, vpc_id), context.clock.seconds()
    try:
        changed = await queries.update(context.db, vpc.id, body.label, body.description, now)
    except UniqueViolationError:
        raise invalid(LABEL_TAKEN, "label") from None
    if changed:
        await log.notify(context, "vpc_update", VPC.entity(vpc.id, body.label or vpc.label))


async def delete(context: Context, vpc_id: int) -> None:
    """Instances that are on their way out are no obstacle: who ends all that belongs together
    deletes the one right after the other."""
    vpc = await lock(context, vpc_id)
    await address_queries.release_deleted(context.db, vpc.id)
    if await address_queries.is_used(context.db, vpc.id):
        raise invalid(VPC_USED)
    await queries.delete(context.db, vpc.id)
    await log.notify(context, "vpc_delete", VPC.of(vpc))


async def create_subnet(context: Context, vpc_id: int, body: CreateSubnet) -> int:
    """The id of a new subnet."""
    vpc = await lock(context, vpc_id)
    held = await queries.subnets_of(context.db, [vpc.id])
    if len(held) >= rules.MAX_SUBNETS:
        raise invalid(FULL)
    taken = [subnet.ipv4 for subnet in held]
    for usage in await address_queries.usages(context.db, vpc.id):
        taken += map(IPv4Network, usage.ip_ranges)
    other = rules.overlapping(IPv4Network(body.ipv4), taken)
    if other is not None:
        raise invalid(rules.OVERLAPS.format(other), "ipv4")
    now = context.clock.seconds()
    subnet_id = await queries.insert_subnet(context.db, vpc.id, body.label, body.ipv4, now)
    if subnet_id is None:
        raise invalid(rules.SUBNET_LABEL_TAKEN, "label")
    entity = subnet_entity(vpc.id, subnet_id, body.label)
    await log.notify(context, "subnet_create", entity, VPC.of(vpc))
    return subnet_id


async def update_subnet(context: Context, vpc_id: int, subnet_id: int, body: UpdateSubnet) -> None:
    vpc, subnet = await lock_subnet(context, vpc_id, subnet_id)
    if body.label in (None, subnet.label):
        return
    label, now = str(body.label), context.clock.seconds()
    try:
        await queries.rename_subnet(context.db, subnet.id, label, now)
    except UniqueViolationError:
        raise invalid(rules.SUBNET_LABEL_TAKEN, "label") from None
    entity = subnet_entity(vpc.id, subnet.id, label)
    await log.notify(context, "subnet_update", entity, VPC.of(vpc))


async def delete_subnet(context: Context, vpc_id: int, subnet_id: int) -> None:
    """As with a whole VPC."""
    vpc, subnet = await lock_subnet(context, vpc_id, subnet_id)
    await address_queries.release_deleted(context.db, vpc.id, subnet.id)
    if await address_queries.is_used(context.db, vpc.id, subnet.id):
        raise invalid(SUBNET_USED)
    await queries.delete_subnet(context.db, subnet.id)
    entity = subnet_entity(vpc.id, subnet.id, subnet.label)
    await log.notify(context, "subnet_delete", entity, VPC.of(vpc))
