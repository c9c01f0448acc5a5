"""SQL of users and their grants."""

# ruff: noqa: S608  (statements are put together from constants)

from dataclasses import replace
from datetime import datetime

from roost.core.entities.queries import entities_sql
from roost.core.entities.registry import Entities
from roost.core.grant_queries import Permission
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.users.records import UserRow
from roost.resources.users.rules import CHILD_ACCESS, KINDS, RIGHTS, UserFacts
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import selected

USERS = listing_of(
    UserRow,
    source="api_user u",
    scope="u.account_id = $1",
    key="u.id",
    sql={
        "ssh_keys": "array(select k.label from ssh_key k where k.user_id = u.id order by k.id)",
        "verified_phone_number": "u.phone_number",
        "last_login": """
            case when u.last_login is not null then (select row_to_json(last) from (
                select u.last_login as login_datetime, u.last_login_status as status) last) end
            """,
    },
)
BY_NAME = replace(USERS, key="u.username")

LIMIT = LimitGroup.of(
    "api_user where account_id = $1",
    LimitKind("users", "users", 500, service=False),
)


_SELECT = f"select {selected(UserFacts)} from api_user"


@query(f"{_SELECT} where account_id = $1 and username = $2")
async def find(db: Queries, account_id: int, username: str) -> UserFacts | None:
    """One of the account's users."""


@query(f"{_SELECT} where id = $1")
async def find_by_id(db: Queries, user_id: int) -> UserFacts | None: ...


@query("""
    select exists (select from api_user where account_id = $1 and id <> $2
        and not restricted and user_type <> 'proxy')
    """)
async def has_other_unrestricted(db: Queries, account_id: int, user_id: int) -> bool:
    """Whether the account keeps an unrestricted user of its own without this one."""


@query("""
    update api_user set username = coalesce($2, username), email = coalesce($3, email),
        restricted = coalesce($4, restricted)
    where id = $1
    """)
async def update(
    db: Queries, user_id: int, username: str | None, email: str | None, restricted: bool | None
) -> None:
    """Change what is not None. asyncpg.UniqueViolationError for a name that is taken."""


@query("update api_user set account_access = $2, rights = $3 where id = $1")
async def set_global_grants(
    db: Queries, user_id: int, account_access: Permission | None, rights: list[str]
) -> None:
    """Replace what the user may do with the account as a whole."""


@query("delete from api_user where id = $1")
async def delete(db: Queries, user_id: int) -> None:
    """With all that is the user's: tokens, keys, grants, sessions, devices, consents."""


@query("""
    update api_user set password_hash = $2, password_created = $3
    where lower(username) = lower($1) and user_type <> 'proxy' returning id
    """)
async def set_password(db: Queries, username: str, hashed: str, now: datetime) -> int | None:
    """Replace the password; sessions from before end, as they are older than it. The user's id.

    None when nobody of this name can log in: proxy users only act by tokens.
    """


_RIGHTS = ", ".join(f"'{right}' = any(u.rights) as {right}" for right in RIGHTS)


def _granted(entities: Entities, name: str) -> str:
    kind = entities.grantable(name)
    if kind is None:
        return f"json '[]' as {name}"
    return f"""
        (select coalesce(json_agg(row_to_json(one) order by one.id), '[]') from (
            select e.id, e.label, g.permissions from ({entities_sql(kind)}) e
            left join entity_grant g
                on g.user_id = u.id and g.kind = '{name}' and g.entity_id = e.id) one) as {name}
        """


async def grants_record(
    db: Queries, entities: Entities, account_id: int, user_id: int
) -> str | None:
    """The record as JSON; None for an unrestricted user."""
    found: str | None = await db.fetchval(
        f"""
        select (select row_to_json(grants) from (
            select (select row_to_json(held) from (
                select u.account_access, {_RIGHTS},
                    case when u.user_type = 'parent' then '{CHILD_ACCESS}' = any(u.rights) end
                        as {CHILD_ACCESS}) held) as global,
                {", ".join(_granted(entities, name) for name in KINDS)}) grants)::text
        from api_user u where u.account_id = $1 and u.id = $2 and u.restricted
        """,
        account_id,
        user_id,
    )
    return found
