"""What the group consists of."""

from roost.core.group import Group
from roost.resources.profile import endpoints
from roost.resources.users.entity import PROFILE

GROUP = Group(
    endpoints=(endpoints,),
    entities=(PROFILE,),
)
