"""SQL of child accounts, and of the tokens by which users of their parent act in them."""

from dataclasses import dataclass, replace

from roost.core.lists import listing_of
from roost.resources.account.queries import account_sql
from roost.resources.child_accounts.records import ChildAccountRow
from roost.store import Queries
from roost.store.query import query

CHILDREN = listing_of(
    ChildAccountRow,
    source="account a",
    scope="a.parent_id = $1 and a.canceled is null and $2::timestamp is not null",
    key="a.id",
    sql={**account_sql("$2::timestamp"), "billing_source": "'external'"},
)
"""Scope: the parent, and the time."""
BY_EUUID = replace(CHILDREN, key="a.euuid")


@dataclass(frozen=True, slots=True)
class ProxyUser:
    """As whom users of the parent act in a child account."""

    id: int
    account_id: int
    username: str


@query("""
    select u.id, u.account_id, u.username
    from account a join api_user u on u.account_id = a.id and u.user_type = 'proxy'
    where a.parent_id = $1 and a.euuid = $2 and a.canceled is null
    """)
async def find_proxy(db: Queries, parent_id: int, euuid: str) -> ProxyUser | None:
    """That of one of the parent's children."""
