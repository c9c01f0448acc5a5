"""SQL of login: users with their passwords, sessions of browsers, failed attempts."""

from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Credentials:
    user_id: int
    username: str
    password_hash: str | None
    tfa_enabled: bool


@dataclass(frozen=True, slots=True)
class Session:
    """The session of a user whose password was right; `tfa_passed`: so was the second factor, if
    there is one."""

    user_id: int
    username: str
    password: bytes
    """SHA-256 of the hash of that password."""
    tfa_passed: bool


@query("""
    select u.id as user_id, u.username, u.tfa_enabled,
        case when a.canceled is null then u.password_hash end as password_hash
    from api_user u join account a on a.id = u.account_id where lower(u.username) = lower($1)
    """)
async def find_credentials(db: Queries, username: str) -> Credentials | None:
    """By the name in any capitalisation; no password opens a canceled account."""


@query("""
    update api_user u set password_hash = $2, password_created = $3 from account a
    where lower(u.username) = lower($1) and u.password_hash is null
        and a.id = u.account_id and a.canceled is null
    returning u.id as user_id, u.username, u.password_hash, u.tfa_enabled
    """)
async def set_first_password(
    db: Queries, username: str, hashed: str, now: datetime
) -> Credentials | None:
    """None, and nothing is changed, when the user has a password, or could not log in with one."""


async def add_session(
    db: Queries, hashed: bytes, user: Session, now: datetime, expiry: datetime
) -> bool:
    """False when the password has changed since it was checked, or the account was canceled."""
    added = await db.fetchval(
        """
        insert into web_session (hash, user_id, password, created, expiry, tfa_passed)
        select $1, u.id, $3, $4, $5, $6 from api_user u join account a on a.id = u.account_id
        where u.id = $2 and sha256(convert_to(u.password_hash, 'UTF8')) = $3 and a.canceled is null
        returning true
        """,
        hashed,
        user.user_id,
        user.password,
        now,
        expiry,
        user.tfa_passed,
    )
    return bool(added)


@query("""
    select s.user_id, u.username, s.password, s.tfa_passed
    from web_session s join api_user u on u.id = s.user_id
        join account a on a.id = u.account_id and a.canceled is null
    where s.hash = $1 and s.expiry > $2
        and s.password = sha256(convert_to(u.password_hash, 'UTF8'))
    """)
async def find_session(db: Queries, hashed: bytes, now: datetime) -> Session | None:
    """None for one that is over, also because the user's password has changed since, or the account
    was canceled."""


@query("delete from web_session where hash = $1")
async def drop_session(db: Queries, hashed: bytes) -> None: ...


@query("insert into login_attempt (username, ip, tried) values ($1, $2::inet, $3) returning id")
async def add_attempt(db: Queries, username: bytes, ip: str, now: datetime) -> int: ...


@dataclass(frozen=True, slots=True)
class Attempts:
    """With a user name from an address, with the name from anywhere, from the address at all."""

    together: int
    per_user: int
    per_address: int


@query("""
    select (select count(*) from login_attempt
            where username = $1 and ip = $2::inet and tried > $3) as together,
        (select count(*) from login_attempt where username = $1 and tried > $3) as per_user,
        (select count(*) from login_attempt where ip = $2::inet and tried > $3)
            as per_address
    """)
async def count_attempts(db: Queries, username: bytes, ip: str, since: datetime) -> Attempts: ...


@query("delete from login_attempt where id = $1")
async def drop_attempt(db: Queries, attempt: int) -> None: ...


@query("delete from login_attempt where username = $1 and ip = $2::inet")
async def drop_attempts(db: Queries, username: bytes, ip: str) -> None: ...


@query("""
    with old as (
        delete from web_session where hash in (
            select hash from web_session where expiry <= $1 limit $2)
        returning hash)
    select count(*) from old
    """)
async def delete_old_sessions(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` sessions that were over before; how many it were."""


@query("""
    with old as (
        delete from login_attempt where id in (
            select id from login_attempt where tried <= $1 limit $2)
        returning id)
    select count(*) from old
    """)
async def delete_old_attempts(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` attempts; how many it were."""
