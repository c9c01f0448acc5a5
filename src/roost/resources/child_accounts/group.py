"""What the group consists of."""

from roost.core.group import Group
from roost.resources.child_accounts import endpoints

GROUP = Group(
    endpoints=(endpoints,),
)
