"""What the group consists of."""

from roost.core.group import Group
from roost.resources.ssh_keys import endpoints, queries
from roost.resources.ssh_keys.queries import SSH_KEY

GROUP = Group(
    endpoints=(endpoints,),
    entities=(SSH_KEY,),
    limits=(queries.LIMIT,),
)
