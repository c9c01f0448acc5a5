"""What the group consists of."""

from roost.core.context import Context
from roost.core.endings import Ending
from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.nodebalancers import (
    config_endpoints,
    endpoints,
    fsck,
    jobs,
    move_jobs,
    node_queries,
    queries,
    service,
    usage_queries,
    watch_jobs,
)
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.nodebalancers.holdings import NODEBALANCERS
from roost.resources.nodebalancers.node_neighbours import Nodes


async def _end(context: Context, nodebalancer_id: str) -> None:
    await service.delete(context, int(nodebalancer_id))


GROUP = Group(
    endpoints=(endpoints, config_endpoints),
    entities=(NODEBALANCER,),
    jobs=(
        jobs.APPLY,
        jobs.DELETE,
        move_jobs.MOVE,
        move_jobs.CLEAR,
        watch_jobs.WATCH,
        watch_jobs.READ,
    ),
    on_each_host=True,
    schedules=(watch_jobs.EVERY_MINUTE, watch_jobs.EVERY_FIVE_MINUTES),
    at_start=(watch_jobs.EVERY_MINUTE,),
    bindings=node_queries.BINDINGS,
    checks=(fsck.check_nodebalancers,),
    limits=(queries.LIMIT,),
    billables=(queries.CHARGED,),
    neighbours=(Nodes(),),
    endings=(Ending("NodeBalancer", queries.HELD, _end),),
    suspensions=(service.SUSPENSION,),
    holdings=(NODEBALANCERS,),
    holders=((BALANCER_PLANE, queries.engines_in_use),),
    retention=(
        retention(
            "nodebalancer_retention",
            "47 4 * * *",
            Old(usage_queries.delete_old, usage_queries.KEPT),
        ),
    ),
)
