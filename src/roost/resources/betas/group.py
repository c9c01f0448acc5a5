"""What the group consists of."""

from roost.core.group import Group
from roost.resources.betas import endpoints

GROUP = Group(
    endpoints=(endpoints,),
)
