"""What the group consists of."""

from roost.core.group import Group
from roost.resources.account import endpoints, notices
from roost.resources.account.entity import ACCOUNT

GROUP = Group(
    endpoints=(endpoints,),
    entities=(ACCOUNT,),
    causes=(notices.missing_email,),
)
