"""Finding and locking a VPC of the account."""

from roost.core.context import Context
from roost.errors import not_found
from roost.resources.vpcs import queries
from roost.resources.vpcs.queries import SubnetFacts, VpcFacts


async def check_exists(context: Context, vpc_id: int) -> int:
    """The id; 404 unless it is that of a VPC of the account."""
    if not await queries.exists(context.db, context.account_id, vpc_id):
        raise not_found()
    return vpc_id


async def lock(context: Context, vpc_id: int) -> VpcFacts:
    """The VPC, in which nobody else changes anything until the end of the transaction; 404."""
    vpc = await queries.lock(context.db, context.account_id, vpc_id)
    if vpc is None:
        raise not_found()
    return vpc


async def lock_subnet(
    context: Context, vpc_id: int, subnet_id: int
) -> tuple[VpcFacts, SubnetFacts]:
    vpc = await lock(context, vpc_id)
    for subnet in await queries.subnets_of(context.db, [vpc.id]):
        if subnet.id == subnet_id:
            return vpc, subnet
    raise not_found()
