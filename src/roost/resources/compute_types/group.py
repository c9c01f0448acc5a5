"""What the group consists of."""

from roost.core.group import Group
from roost.resources.compute_types import endpoints

GROUP = Group(
    endpoints=(endpoints,),
)
