"""What the group consists of."""

from roost.core.group import Group
from roost.resources.vpcs import address_queries, endings, endpoints, entity, queries
from roost.resources.vpcs.neighbours import VpcInterfaces

GROUP = Group(
    endpoints=(endpoints,),
    entities=(entity.VPC,),
    limits=(queries.LIMIT,),
    endings=(endings.VPCS,),
    bindings=address_queries.BINDINGS,
    neighbours=(VpcInterfaces(),),
)
