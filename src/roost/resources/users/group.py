"""What the group consists of."""

from roost.core.group import Group
from roost.resources.users import endpoints, queries
from roost.resources.users.entity import USER

GROUP = Group(
    endpoints=(endpoints,),
    entities=(USER,),
    limits=(queries.LIMIT,),
)
