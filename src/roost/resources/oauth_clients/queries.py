"""SQL of OAuth clients."""

from dataclasses import dataclass
from datetime import datetime

from roost.resources.limits.kinds import LimitGroup, LimitKind
from roost.resources.oauth_clients.bodies import CreateOAuthClient, UpdateOAuthClient
from roost.store import Queries
from roost.store.paging import Column, Listing

CLIENTS = Listing(
    record="""
        c.id, c.redirect_uri, c.label, c.status, '<REDACTED>' as secret,
        case when c.thumbnail is not null
            then '/v4/account/oauth-clients/' || c.id || '/thumbnail' end as thumbnail_url,
        c.public
        """,
    source="oauth_client c",
    scope="c.account_id = $1",
    key="c.id",
    columns={"label": Column("c.label", "text", folds=True), "public": Column("c.public", "bool")},
)

LIMIT = LimitGroup.of(
    "oauth_client where account_id = $1",
    LimitKind("oauth_clients", "OAuth clients", service=False),
)


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """What the authorization server needs of a client."""

    id: str
    account_id: int
    label: str
    redirect_uri: str
    public: bool
    secret_hash: bytes
    has_thumbnail: bool


_FACTS = """
    select id, account_id, label, redirect_uri, public, secret_hash,
        thumbnail is not null as has_thumbnail
    from oauth_client
"""


async def find_active(db: Queries, client_id: str) -> OAuthClient | None:
    """Of any account, as users of all accounts may let it in."""
    row = await db.fetchrow(_FACTS + " where id = $1 and status = 'active'", client_id)
    return None if row is None else OAuthClient(**row)


async def lock(db: Queries, account_id: int, client_id: str) -> OAuthClient | None:
    row = await db.fetchrow(
        _FACTS + " where account_id = $1 and id = $2 for update", account_id, client_id
    )
    return None if row is None else OAuthClient(**row)


async def insert(
    db: Queries,
    account_id: int,
    client_id: str,
    new: CreateOAuthClient,
    secret_hash: bytes,
    now: datetime,
) -> None:
    await db.execute(
        """
        insert into oauth_client (id, account_id, label, redirect_uri, public, secret_hash, created)
        values ($1, $2, $3, $4, $5, $6, $7)
        """,
        client_id,
        account_id,
        new.label,
        new.redirect_uri,
        new.public,
        secret_hash,
        now,
    )


async def update(db: Queries, client_id: str, new: UpdateOAuthClient) -> None:
    await db.execute(
        """
        update oauth_client set label = coalesce($2, label), public = coalesce($3, public),
            redirect_uri = coalesce($4, redirect_uri) where id = $1
        """,
        client_id,
        new.label,
        new.public,
        new.redirect_uri,
    )


async def delete(db: Queries, client_id: str) -> None:
    """Consents and tokens go with it."""
    await db.execute("delete from oauth_client where id = $1", client_id)


async def set_secret(db: Queries, client_id: str, secret_hash: bytes) -> None:
    await db.execute(
        "update oauth_client set secret_hash = $2 where id = $1", client_id, secret_hash
    )


async def set_thumbnail(db: Queries, client_id: str, png: bytes) -> None:
    await db.execute("update oauth_client set thumbnail = $2 where id = $1", client_id, png)


async def find_thumbnail(db: Queries, client_id: str) -> bytes | None:
    """Of any account's client, as thumbnails are public."""
    png: bytes | None = await db.fetchval(
        "select thumbnail from oauth_client where id = $1", client_id
    )
    return png
