"""What the group consists of."""

from roost.core.group import Group
from roost.resources.security_questions import endpoints

GROUP = Group(
    endpoints=(endpoints,),
)
