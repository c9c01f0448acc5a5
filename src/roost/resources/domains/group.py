"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.resources.domains import endpoints, fsck, jobs, queries, record_endpoints, service
from roost.resources.domains.queries import DOMAIN


async def _end(context: Context, domain_id: str) -> None:
    await service.delete(context, int(domain_id))


GROUP = Group(
    endpoints=(
        endpoints,
        record_endpoints,
    ),
    entities=(DOMAIN,),
    jobs=jobs.KINDS,
    checks=(fsck.check_zones,),
    limits=(queries.LIMIT,),
    endings=(Ending("domain", queries.HELD, _end),),
)
