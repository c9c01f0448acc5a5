"""What the group consists of."""

from roost.core.billing import spending_queries
from roost.core.group import Group
from roost.core.retention import Old, retention
from roost.resources.tokens import endpoints
from roost.resources.tokens.entity import TOKEN
from roost.resources.tokens.queries import KEPT, delete_old_uses

GROUP = Group(
    endpoints=(endpoints,),
    entities=(TOKEN,),
    retention=(
        retention(
            "token_use_retention",
            "57 3 * * *",
            Old(delete_old_uses, KEPT),
            Old(spending_queries.delete_old),
        ),
    ),
)
