"""SQL of child accounts, and of the tokens by which users of their parent act in them."""

from dataclasses import replace

from roost.resources.account.queries import ACCOUNT
from roost.store import Queries
from roost.store.paging import Column

_FILTERABLE = (
    "address_1",
    "address_2",
    "city",
    "company",
    "country",
    "email",
    "first_name",
    "last_name",
    "phone",
    "state",
    "zip",
)

CHILDREN = replace(
    ACCOUNT,
    scope="a.parent_id = $1",
    columns={name: Column(f"a.{name}", "text", folds=True) for name in _FILTERABLE},
)
BY_EUUID = replace(CHILDREN, key="a.euuid")


async def tie_token(db: Queries, token_id: int, user_id: int) -> None:
    """Let a proxy user's token end with what its maker may do."""
    await db.execute("update token set made_by = $2 where id = $1", token_id, user_id)


async def forget_tokens(db: Queries, user_id: int) -> None:
    """The proxy users' tokens that a user of the parent made."""
    await db.execute("delete from token where made_by = $1", user_id)
