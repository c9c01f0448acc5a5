"""SQL of accounts and their users."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from roost.core.billing import promotion_queries
from roost.core.lists import listing_of
from roost.resources.account.records import AccountRow, SettingsRow
from roost.store import Queries
from roost.store.paging import Listing
from roost.store.query import query
from roost.store.statement import Statement, changed

_CAPABILITIES = """array(
    select distinct capability from region, unnest(capabilities) as capability
    where not retired order by 1)"""
"""All services of all regions, as an SQL expression."""


def account_sql(now: str, uninvoiced: str = "0") -> dict[str, str]:
    """SQL of what is no column in the record of an account `a` at a time (UTC)."""
    return {
        "active_promotions": promotion_queries.active("a.id", now),
        "active_since": "a.created",
        "balance": "a.balance::float8",
        "balance_uninvoiced": uninvoiced,
        "capabilities": _CAPABILITIES,
        "credit_card": """
            json_build_object('last_four', a.card_last_four, 'expiry', a.card_expiry)""",
    }


OWN_ACCOUNT = listing_of(
    AccountRow,
    source="account a",
    scope="$1::timestamp is not null and $2::numeric is not null",
    key="a.id",
    sql={
        **account_sql("$1::timestamp", "$2::numeric"),
        "billing_source": "case when a.parent_id is null then 'platform' else 'external' end",
    },
)
"""Scope: the time, and what the caller's account has used and not been invoiced for, in US
dollars."""

SETTINGS = listing_of(
    SettingsRow,
    source="account a",
    scope="true",
    key="a.id",
    sql={
        "longview_subscription": "null",
    },
)


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """What the rules of an update need of a row."""

    company: str
    country: str
    state: str
    zip: str
    is_parent: bool
    canceled: bool


@query("""
    select company, country, state, zip, canceled is not null as canceled,
        exists (select from account c where c.parent_id = a.id) as is_parent
    from account a where id = $1 for no key update
    """)
async def lock(db: Queries, account_id: int) -> AccountFacts:
    """The account, which nobody else changes until the end of the transaction.

    Nobody adds, changes or deletes its users either, as all of that locks the account first.
    """


_COLUMNS = (
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
    "tax_id",
    "zip",
)
"""What a user can change."""
_UPDATE = Statement(f"update account set {changed(*_COLUMNS)} where id = :account_id")  # noqa: S608


async def update(db: Queries, account_id: int, changes: Mapping[str, object]) -> None:
    """Change the columns that have a value."""
    await db.execute(*_UPDATE.of(**changes, account_id=account_id))


@query("""
    update account set backups_enabled = coalesce($2, backups_enabled),
        network_helper = coalesce($3, network_helper)
    where id = $1
    """)
async def update_settings(
    db: Queries, account_id: int, backups_enabled: bool | None, network_helper: bool | None
) -> None:
    """Change what is not None."""


@query("insert into account (euuid, created, email, company) values ($1, $2, $3, $4) returning id")
async def create_account(
    db: Queries, euuid: str, now: datetime, email: str = "", company: str = ""
) -> int: ...


@query("select id from api_user where lower(username) = lower($1)")
async def find_user(db: Queries, username: str) -> int | None:
    """By the name in any capitalisation."""


@query("""
    select min(id) from api_user where not restricted and user_type <> 'proxy'
        and account_id = (select min(id) from account)
    """)
async def find_operator(db: Queries) -> int | None:
    """The first unrestricted user of the operator's own account, whatever their name is now."""


@query("select email <> '' from account where id = $1")
async def has_email(db: Queries, account_id: int) -> bool: ...


@query("select min(id) from account")
async def first_account(db: Queries) -> int | None:
    """The operator's own account, which the first start made."""


@query("select exists (select from account)")
async def has_account(db: Queries) -> bool: ...


@query("select pg_advisory_xact_lock(hashtext('roost first start'))")
async def lock_first_start(db: Queries) -> None:
    """Held until the transaction ends, so that of many first starts one makes the account."""


@dataclass(frozen=True, slots=True)
class ListedAccount:
    id: int
    company: str
    email: str
    parent_id: int | None
    users: int
    created: datetime
    suspended: str | None
    """For what: `debt` or `operator`."""


@query("""
    select a.id, a.company, a.email, a.parent_id, a.created, a.suspended_for as suspended,
        (select count(*) from api_user u where u.account_id = a.id) as users
    from account a order by a.id
    """)
async def list_accounts(db: Queries) -> list[ListedAccount]: ...


@query("""
    with own as (select id from account where id = $1 for update)
    update account a set managed = $2 from own where a.id = own.id and a.managed <> $2
    returning true
    """)
async def set_managed(db: Queries, account_id: int, managed: bool) -> bool | None:
    """Whether the operator looks after its services from now on; None when that is no news.

    It waits for what is being made for the account, and what is made later knows it.
    """


async def set_parent_pays(db: Queries, child_id: int, *, parent_pays: bool) -> bool:
    """False for an account that has no parent."""
    sql = "update account set parent_pays = $2 where id = $1 and parent_id is not null"
    return bool(await db.fetchval(f"{sql} returning true", child_id, parent_pays))


@query("select id, balance from account order by id")
async def balances(db: Queries) -> dict[int, Decimal]:
    """US dollars that accounts owe, of all of them."""


_ACCOUNT_SERVICES = "unnest(array['Block Storage', 'Computes', 'Kubernetes', 'NodeBalancers'])"


_SERVICES = f"""
    r.id as region,
    array(select service from {_ACCOUNT_SERVICES} as service
        where service = any(r.capabilities)) as available,
    array(select service from {_ACCOUNT_SERVICES} as service
        where service <> all(r.capabilities)) as unavailable
    """  # noqa: S608 - constants


SERVICES = Listing(
    record=_SERVICES,
    source="region r",
    scope="not r.retired",
    key="r.id",
    columns={},
)
