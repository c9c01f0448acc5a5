"""What the group consists of."""

from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.events import endpoints, queries

GROUP = Group(
    endpoints=(endpoints,),
    retention=(retention("event_retention", "37 3 * * *", Old(queries.delete_old, queries.KEPT)),),
)
