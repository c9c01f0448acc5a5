"""SQL of accounts and users, as far as all groups need them: holding one, and whom to write to."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class AccountState:
    """Whether an account works now."""

    suspended: bool
    canceled: bool


_STATE = """
    select suspended_for is not null as suspended, canceled is not null as canceled
    from account where id = $1
    """


@query(f"{_STATE} for no key update")
async def lock(db: Queries, account_id: int) -> AccountState:
    """The account, which nobody else changes until the end of the transaction.

    Nobody adds, changes or deletes its users either, as all of that locks the account first.
    """


@query(f"{_STATE} for share")
async def hold(db: Queries, account_id: int) -> AccountState | None:
    """How an account is, and stays until the transaction ends; others may hold it too."""


@query("select exists (select from account where id = $1)")
async def exists(db: Queries, account_id: int) -> bool: ...


@query("select email from account where id = $1 and email <> ''")
async def find_email(db: Queries, account_id: int) -> str | None:
    """None when it has no address."""


@query("""
    insert into api_user (account_id, username, restricted, created, email, user_type)
    select a.id, $2, $3, $4, $5, case
        when a.parent_id is not null then 'child'
        when exists (select from account c where c.parent_id = a.id) then 'parent'
        else 'default' end
    from account a where a.id = $1
    returning id
    """)
async def create_user(
    db: Queries,
    account_id: int,
    username: str,
    restricted: bool,
    now: datetime,
    email: str = "",
) -> int:
    """A user of the type that all users of the account have.

    asyncpg.UniqueViolationError for a name that is taken.
    """


@query("select id, created from account where id = any($1::bigint[])")
async def created(db: Queries, account_ids: Collection[int]) -> dict[int, datetime]:
    """When accounts were made."""


@query("select network_helper from account where id = $1")
async def network_helper(db: Queries, account_id: int) -> bool:
    """Whether new configs of instances have the helper (spec B account 10)."""


@query("select balance from account where id = $1")
async def balance(db: Queries, account_id: int) -> Decimal:
    """US dollars"""


@query("""
    select email from api_user where id = $1 and email_notifications and email <> ''
        and (not restricted or account_access is not null)
    """)
async def find_mail_address(db: Queries, user_id: int) -> str | None:
    """Where letters of the account's affairs go; None for a user who wants none, has no address,
    or may not look at the account (any more)."""


@query("select managed from account where id = $1")
async def is_managed(db: Queries, account_id: int) -> bool:
    """Whether the operator looks after its services."""
