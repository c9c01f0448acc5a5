"""SQL of child accounts, and of the tokens by which users of their parent act in them."""

from dataclasses import dataclass, replace

from roost.resources.account.queries import CHILDREN as ALL_CHILDREN
from roost.store import Queries
from roost.store.paging import Column
from roost.store.query import query

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
    ALL_CHILDREN,
    columns={name: Column(f"a.{name}", "text", folds=True) for name in _FILTERABLE},
)
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
