"""SQL of consents: their codes, access tokens and refresh tokens (a family)."""

from dataclasses import dataclass
from datetime import datetime

from roost.oauth.request import AuthorizationRequest
from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Family:
    """A consent and all that comes from it; locked before its codes and tokens are."""

    id: int
    user_id: int
    client_id: str
    public: bool
    """Whether the client was when the user let it in."""
    scopes: str
    revoked: bool


@dataclass(frozen=True, slots=True)
class Code:
    redirect_uri: str
    challenge: str | None
    expiry: datetime
    used: bool


@dataclass(frozen=True, slots=True)
class RefreshToken:
    created: datetime
    used: bool


async def add_family(
    db: Queries, user_id: int, request: AuthorizationRequest, now: datetime, expiry: datetime
) -> Family:
    """asyncpg.ForeignKeyViolationError when the client or the user was deleted meanwhile."""
    client, scopes = request.client, request.scopes.text
    family_id: int = await db.fetchval(
        """
        insert into authorized_app (user_id, client_id, public, scopes, created, expiry)
        values ($1, $2, $3, $4, $5, $6) returning id
        """,
        user_id,
        client.id,
        client.public,
        scopes,
        now,
        expiry,
    )
    return Family(family_id, user_id, client.id, client.public, scopes, revoked=False)


@query("update authorized_app set expiry = $2 where id = $1")
async def prolong(db: Queries, family_id: int, expiry: datetime) -> None: ...


_LOCK = """
    select id, user_id, client_id, public, scopes, revoked is not null or exists (
            select from api_user u join account a on a.id = u.account_id
            where u.id = user_id and a.canceled is not null) as revoked
    from authorized_app where id = ({found}) for update
"""


async def lock_family_of_code(db: Queries, hashed: bytes) -> Family | None:
    return await _lock(db, "select app_id from oauth_code where hash = $1", hashed)


async def lock_family_of_refresh_token(db: Queries, hashed: bytes) -> Family | None:
    return await _lock(db, "select app_id from refresh_token where hash = $1", hashed)


async def lock_family_of_any_token(db: Queries, hashed: bytes) -> Family | None:
    return await _lock(
        db,
        "select app_id from refresh_token where hash = $1"
        " union all select app_id from token where hash = $1 and kind = 'oauth'",
        hashed,
    )


async def _lock(db: Queries, found: str, hashed: bytes) -> Family | None:
    row = await db.fetchrow(_LOCK.format(found=found), hashed)
    return None if row is None else Family(**row)


async def add_code(
    db: Queries, family: Family, hashed: bytes, request: AuthorizationRequest, expiry: datetime
) -> None:
    await db.execute(
        """
        insert into oauth_code (hash, app_id, redirect_uri, challenge, expiry)
        values ($1, $2, $3, $4, $5)
        """,
        hashed,
        family.id,
        request.redirect_uri,
        request.challenge,
        expiry,
    )


@query("select redirect_uri, challenge, expiry, used from oauth_code where hash = $1")
async def find_code(db: Queries, hashed: bytes) -> Code | None: ...


@query("update oauth_code set used = true where hash = $1")
async def use_code(db: Queries, hashed: bytes) -> None: ...


async def add_refresh_token(db: Queries, family: Family, hashed: bytes, now: datetime) -> None:
    await db.execute(
        "insert into refresh_token (hash, app_id, created) values ($1, $2, $3)",
        hashed,
        family.id,
        now,
    )


@query("select created, used from refresh_token where hash = $1")
async def find_refresh_token(db: Queries, hashed: bytes) -> RefreshToken | None: ...


@query("update refresh_token set used = true where hash = $1")
async def use_refresh_token(db: Queries, hashed: bytes) -> None: ...


@query("""
    with old as (
        delete from authorized_app where id in (
            select id from authorized_app where least(expiry, revoked) <= $1 limit $2)
        returning id)
    select count(*) from old
    """)
async def delete_old_families(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` consents that ended before, with all that came from them; how many."""


@query("""
    with old as (
        delete from token where id in (
            select id from token where kind = 'oauth' and expiry <= $1 limit $2)
        returning id)
    select count(*) from old
    """)
async def delete_old_access_tokens(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` access tokens that expired before; how many it were."""


@query("""
    with old as (
        delete from refresh_token where hash in (
            select hash from refresh_token where created <= $1 limit $2)
        returning hash)
    select count(*) from old
    """)
async def delete_old_refresh_tokens(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` refresh tokens that were made before; how many it were."""
