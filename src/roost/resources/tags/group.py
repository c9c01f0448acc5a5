"""What the group consists of."""

from roost.core.group import Group
from roost.resources.tags import endpoints, fsck, queries
from roost.resources.tags.queries import TAG

GROUP = Group(
    endpoints=(endpoints,),
    entities=(TAG,),
    checks=(fsck.check_tags,),
    limits=(queries.LIMIT,),
)
