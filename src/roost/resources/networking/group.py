"""What the group consists of."""

from roost.core.group import Group
from roost.resources.networking import endpoints, jobs, limits, queries, range_endpoints
from roost.resources.networking.neighbours import SharedAddresses

GROUP = Group(
    endpoints=(endpoints, range_endpoints),
    jobs=(jobs.APPLY,),
    bindings=queries.BINDINGS,
    limits=(limits.PUBLIC,),
    neighbours=(SharedAddresses(),),
)
