"""What the group consists of."""

from roost.core.group import Group
from roost.resources.two_factor import endpoints

GROUP = Group(
    endpoints=(endpoints,),
)
