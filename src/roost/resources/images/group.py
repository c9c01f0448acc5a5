"""What the group consists of."""

from roost.core.group import Group
from roost.resources.images import endpoints
from roost.resources.images.queries import IMAGE

GROUP = Group(
    endpoints=(endpoints,),
    entities=(IMAGE,),
)
