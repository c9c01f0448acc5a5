"""NodeBalancers on hosts, for one that takes over what another had."""

from roost.core.hosts.holdings import Holding
from roost.resources.nodebalancers import host_queries

NODEBALANCERS = Holding(
    "NodeBalancer",
    host_queries.give,
    host_queries.by_host,
    host_queries.regions_of,
    moves_to=host_queries.moves_to,
)
"""Nothing is on disks: the watch of a host brings what it lacks."""
