"""What the group consists of."""

from roost.core.group import Group
from roost.resources.account import endpoints, notices
from roost.resources.account.entity import ACCOUNT_KIND

GROUP = Group(
    endpoints=(endpoints,),
    entities=(ACCOUNT_KIND,),
    causes=(notices.missing_email,),
)
