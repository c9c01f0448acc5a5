"""What the group consists of."""

from roost.core.group import Group
from roost.resources.regions import endpoints

GROUP = Group(
    endpoints=(endpoints,),
)
