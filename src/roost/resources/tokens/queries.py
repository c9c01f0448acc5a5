"""SQL of tokens of all kinds, of the personal ones that users see, and of their uses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from asyncpg import Record

from roost.core.identity import Identity, TokenKind
from roost.core.lists import listing_of
from roost.core.revocation_queries import CHANNEL
from roost.core.scopes import Scopes
from roost.resources.tokens.records import PersonalTokenRow
from roost.store import Queries, notify
from roost.store.query import query
from roost.store.statement import Statement

TOKENS = listing_of(
    PersonalTokenRow,
    source="token t",
    scope="""t.user_id = $1 and t.kind = 'personal' and t.revoked is null
        and (t.expiry is null or t.expiry > $2)""",
    key="t.id",
    sql={
        "token": "t.prefix",
    },
)


@dataclass(frozen=True, slots=True)
class TokenRow:
    id: int
    username: str
    label: str
    prefix: str
    scopes: str
    created: datetime
    expiry: datetime | None


_IDENTITY = """
        select a.id as account_id, a.euuid::text as euuid, u.id as user_id, u.username,
            u.restricted, u.user_type, u.rights, u.account_access, t.id as token_id,
            t.kind as token_kind, t.scopes, t.expiry, t.narrowing_key,
            case when t.app_id is null then t.revision else (
                select c.revision from authorized_app p join oauth_client c on c.id = p.client_id
                where p.id = t.app_id) end as revision
        from token t join api_user u on u.id = t.user_id join account a on a.id = u.account_id
        where t.revoked is null and a.canceled is null
            and (t.app_id is null or exists (
            select from authorized_app p join oauth_client c on c.id = p.client_id
            where p.id = t.app_id and p.revoked is null and c.status = 'active'))
            and (t.session is null or exists (
            select from web_session s where s.hash = t.session and s.tfa_passed
                and s.password = sha256(convert_to(u.password_hash, 'UTF8'))))
    """


async def find_identity(db: Queries, hashed: bytes) -> Identity | None:
    """Who has a good token, by its hash; it may have expired."""
    return _identity(await db.fetchrow(f"{_IDENTITY} and t.hash = $1", hashed))


async def identity_of(db: Queries, token_id: int) -> Identity | None:
    """Who has a good token, by its id; it may have expired."""
    return _identity(await db.fetchrow(f"{_IDENTITY} and t.id = $1", token_id))


async def identities(db: Queries, token_ids: Sequence[int]) -> dict[int, Identity]:
    """Those of many tokens by their ids."""
    rows = await db.fetch(f"{_IDENTITY} and t.id = any($1)", token_ids)
    found = map(_identity, rows)
    return {each.token_id: each for each in found if each is not None}


def _identity(row: Record | None) -> Identity | None:
    if row is None:
        return None
    return Identity(
        account_id=row["account_id"],
        account_uuid=row["euuid"],
        user_id=row["user_id"],
        username=row["username"],
        restricted=row["restricted"],
        user_type=row["user_type"],
        rights=frozenset(row["rights"]),
        account_access=row["account_access"],
        token_id=row["token_id"],
        token_kind=row["token_kind"],
        scopes=Scopes.parse(row["scopes"]),
        expiry=row["expiry"],
        narrowing_key=row["narrowing_key"],
        revision=row["revision"],
    )


_INSERT = Statement(
    """
    insert into token (user_id, label, hash, prefix, scopes, created, expiry, kind, app_id, made_by,
        narrowing_key)
    values (:user_id, :label, :hash, :prefix, :scopes, :created, :expiry, :kind, :app_id,
        :made_by, :narrowing_key)
    returning id
    """
)


async def create_token(
    db: Queries,
    user_id: int,
    label: str,
    hashed: bytes,
    prefix: str,
    scopes: Scopes,
    created: datetime,
    expiry: datetime | None,
    kind: TokenKind,
    app_id: int | None,
    made_by: int | None = None,
    narrowing_key: bytes | None = None,
) -> int:
    """Its id. It ends with what `made_by` may do, the user of a parent who acts by it.

    `narrowing_key`: what narrowed ones of it are known by.
    """
    token_id: int = await db.fetchval(
        *_INSERT.of(
            user_id=user_id,
            label=label,
            hash=hashed,
            prefix=prefix,
            scopes=scopes.text,
            created=created,
            expiry=expiry,
            kind=kind,
            app_id=app_id,
            made_by=made_by,
            narrowing_key=narrowing_key,
        )
    )
    return token_id


@query("""
    insert into token
        (user_id, label, hash, prefix, scopes, created, last_used, expiry, kind, session)
    select user_id, 'Console', $2, $3, '*', created, created, expiry, 'session', hash
    from web_session where hash = $1
    """)
async def add_session_token(db: Queries, session: bytes, hashed: bytes, prefix: str) -> None:
    """One for a session, which was its login already."""


async def count_with_lock(db: Queries, user_id: int, now: datetime) -> int:
    """A user's personal tokens that are good; one more is made by one transaction at a time."""
    await db.execute("select from api_user where id = $1 for no key update", user_id)
    count: int = await db.fetchval(
        f"select count(*) from {TOKENS.source} where {TOKENS.scope}",  # noqa: S608 - constants
        user_id,
        now,
    )
    return count


@query("""
    select t.id, u.username, t.label, t.prefix, t.scopes, t.created, t.expiry
    from token t join api_user u on u.id = t.user_id where t.revoked is null order by t.id
    """)
async def list_tokens(db: Queries) -> list[TokenRow]:
    """The tokens of all kinds and accounts that are not revoked."""


async def revoke_token(db: Queries, token_id: int, now: datetime) -> bool:
    """False when there is no such token, or it was revoked before."""
    revoked = await db.fetchval(
        "update token set revoked = $2 where id = $1 and revoked is null returning true",
        token_id,
        now,
    )
    if revoked:
        await notify(db, CHANNEL)
    return bool(revoked)


@query("""
    update token t set revoked = $2 from api_user u
    where u.id = t.user_id and u.account_id = $1 and t.revoked is null
    """)
async def revoke_all(db: Queries, account_id: int, now: datetime) -> None:
    """The tokens of all kinds of an account's users. The caller tells all processes."""


@query("""
    select label from token
    where user_id = $1 and id = $2 and kind = 'personal' and revoked is null
        and (expiry is null or expiry > $3)
    for update
    """)
async def lock(db: Queries, user_id: int, token_id: int, now: datetime) -> str | None:
    """The label of a user's personal token, unless it is over; nobody else changes it now."""


@query("update token set label = $2 where id = $1")
async def rename(db: Queries, token_id: int, label: str) -> None: ...


@query("update token set revision = $2 where id = $1")
async def set_revision(db: Queries, token_id: int, revision: str) -> None: ...


KEPT = timedelta(days=30)
"""As far back as `roost token suggest` looks."""


async def add_uses(db: Queries, uses: Iterable[tuple[int, str]], day: date) -> None:
    """That tokens were used for operations on a day; those that are gone are left out."""
    token_ids, operations = zip(*uses, strict=True)
    await db.execute(
        """
        insert into token_use (token_id, operation, day)
        select t.id, used.operation, $3
        from unnest($1::bigint[], $2::text[]) as used (token_id, operation)
            join token t on t.id = used.token_id
        on conflict do nothing
        """,
        token_ids,
        operations,
        day,
    )


async def touch_tokens(db: Queries, token_ids: Iterable[int], now: datetime) -> dict[int, int]:
    """Note that tokens were used; the user of each that never was before."""
    rows = await db.fetch(
        """
        with former as (
            select id, last_used from token where id = any($1::bigint[]) order by id for update)
        update token t set last_used = $2 from former where t.id = former.id
        returning t.id, t.user_id, former.last_used is null as first
        """,
        list(token_ids),
        now,
    )
    return {row["id"]: row["user_id"] for row in rows if row["first"]}


async def find_uses(db: Queries, token_id: int, since: date) -> list[str] | None:
    """The operations that a token was used for; None when there is no such token."""
    operations: list[str] | None = await db.fetchval(
        """
        select array(select distinct u.operation from token_use u
            where u.token_id = t.id and u.day >= $2 order by 1)
        from token t where t.id = $1
        """,
        token_id,
        since,
    )
    return operations


async def delete_old_uses(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` uses of all tokens; how many it were."""
    deleted: int = await db.fetchval(
        """
        with old as (
            delete from token_use where ctid = any(array(
                select ctid from token_use where day < $1 limit $2))
            returning token_id)
        select count(*) from old
        """,
        before.date(),
        limit,
    )
    return deleted


@query("""
    select exists (select from token t join api_user u on u.id = t.made_by
        where t.id = $1 and u.restricted)
    """)
async def maker_is_restricted(db: Queries, token_id: int) -> bool:
    """Whether a restricted user of the parent made it, a proxy user's token."""
