"""What the group consists of."""

from roost.core.group import Group
from roost.resources.stackscripts import endings, endpoints, queries
from roost.resources.stackscripts.queries import STACKSCRIPT

GROUP = Group(
    endpoints=(endpoints,),
    entities=(STACKSCRIPT,),
    limits=(queries.LIMIT,),
    endings=(endings.STACKSCRIPTS,),
)
