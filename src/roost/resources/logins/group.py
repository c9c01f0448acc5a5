"""What the group consists of."""

from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.logins import endpoints, queries

GROUP = Group(
    endpoints=(endpoints,),
    retention=(retention("login_retention", "47 3 * * *", Old(queries.delete_old, queries.KEPT)),),
)
