"""SQL of profiles, and of looking up, making and revoking tokens."""

from dataclasses import dataclass
from datetime import datetime

from roost.resources.profile.bodies import UpdateProfile
from roost.store import Queries
from roost.store.paging import Listing
from roost.web.auth import Identity, TokenKind
from roost.web.scopes import Scopes

TOKEN_CHANNEL = "roost_token"  # noqa: S105  (a channel's name)

PROFILES = Listing(
    record="""
        u.id as uid, u.username, u.email, null as verified_phone_number, u.timezone,
        u.email_notifications,
        json '{"code":"","url":"","total":0,"completed":0,"pending":0,"credit":0}' as referrals,
        false as ip_whitelist_enabled, u.lish_auth_method, u.authorized_keys,
        u.tfa_enabled as two_factor_auth, u.restricted, 'password' as authentication_type,
        u.user_type
        """,
    source="api_user u",
    scope="u.account_id = $1",
    key="u.id",
    columns={},
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


async def find_identity(db: Queries, hashed: bytes) -> Identity | None:
    row = await db.fetchrow(
        """
        select a.id as account_id, a.euuid::text as euuid, u.id as user_id, u.username,
            u.restricted, u.user_type, u.rights, u.account_access, t.id as token_id,
            t.kind as token_kind, t.scopes, t.expiry
        from token t join api_user u on u.id = t.user_id join account a on a.id = u.account_id
        where t.hash = $1 and t.revoked is null
        """,
        hashed,
    )
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
) -> int:
    token_id: int = await db.fetchval(
        """
        insert into token (user_id, label, hash, prefix, scopes, created, expiry, kind, app_id)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id
        """,
        user_id,
        label,
        hashed,
        prefix,
        scopes.text,
        created,
        expiry,
        kind,
        app_id,
    )
    return token_id


async def list_tokens(db: Queries) -> list[TokenRow]:
    """The tokens of all kinds and accounts that are not revoked."""
    rows = await db.fetch(
        """
        select t.id, u.username, t.label, t.prefix, t.scopes, t.created, t.expiry
        from token t join api_user u on u.id = t.user_id where t.revoked is null order by t.id
        """
    )
    return [TokenRow(**row) for row in rows]


async def revoke_token(db: Queries, token_id: int, now: datetime) -> bool:
    """False when there is no such token, or it was revoked before."""
    revoked = await db.fetchval(
        "update token set revoked = $2 where id = $1 and revoked is null returning true",
        token_id,
        now,
    )
    if revoked:
        await db.execute("select pg_notify($1, '')", TOKEN_CHANNEL)
    return bool(revoked)


async def update_profile(db: Queries, user_id: int, body: UpdateProfile) -> None:
    """Change what the body names, save two_factor_auth."""
    await db.execute(
        """
        update api_user set email = coalesce($2, email), timezone = coalesce($3, timezone),
            email_notifications = coalesce($4, email_notifications),
            lish_auth_method = coalesce($5, lish_auth_method),
            authorized_keys = case when $6 then $7 else authorized_keys end,
            restricted = coalesce($8, restricted)
        where id = $1
        """,
        user_id,
        body.email,
        body.timezone,
        body.email_notifications,
        body.lish_auth_method,
        "authorized_keys" in body.model_fields_set,
        body.authorized_keys,
        body.restricted,
    )


async def find_preferences(db: Queries, user_id: int) -> str:
    """JSON text."""
    preferences: str = await db.fetchval("select preferences from api_user where id = $1", user_id)
    return preferences


async def save_preferences(db: Queries, user_id: int, preferences: str) -> None:
    await db.execute("update api_user set preferences = $2 where id = $1", user_id, preferences)
