"""SQL of OAuth clients."""

from dataclasses import dataclass, replace
from datetime import datetime

from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.oauth_clients.entity import THUMBNAIL_URL
from roost.resources.oauth_clients.records import ClientStatus, OAuthClientRow
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import selected

CLIENTS = listing_of(
    OAuthClientRow,
    source="oauth_client c",
    scope="c.account_id = $1",
    key="c.number",
    sql={"secret": "'<REDACTED>'", "thumbnail_url": THUMBNAIL_URL},
)
BY_ID = replace(CLIENTS, key="c.id")

LIMIT = LimitGroup.of(
    "oauth_client where account_id = $1",
    LimitKind("oauth_clients", "OAuth clients", 100, service=False),
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


_FACTS = f"""
    select {selected(OAuthClient, has_thumbnail="thumbnail is not null")} from oauth_client
"""  # noqa: S608


@query(_FACTS + " where id = $1 and status = 'active'")
async def find_active(db: Queries, client_id: str) -> OAuthClient | None:
    """An active client of any account, as users of all accounts may let it in."""


@query(_FACTS + " where account_id = $1 and id = $2 for update")
async def lock(db: Queries, account_id: int, client_id: str) -> OAuthClient | None: ...


async def insert(
    db: Queries,
    account_id: int,
    client_id: str,
    *,
    label: str,
    redirect_uri: str,
    public: bool,
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
        label,
        redirect_uri,
        public,
        secret_hash,
        now,
    )


@query("""
    update oauth_client set label = coalesce($2, label), public = coalesce($3, public),
        redirect_uri = coalesce($4, redirect_uri) where id = $1
    """)
async def update(
    db: Queries, client_id: str, label: str | None, public: bool | None, redirect_uri: str | None
) -> None:
    """Change what is not None."""


@query("delete from oauth_client where id = $1")
async def delete(db: Queries, client_id: str) -> None:
    """Consents and tokens go with it."""


@query("update oauth_client set secret_hash = $2 where id = $1")
async def set_secret(db: Queries, client_id: str, secret_hash: bytes) -> None: ...


@query("update oauth_client set thumbnail = $2 where id = $1")
async def set_thumbnail(db: Queries, client_id: str, png: bytes) -> None: ...


@query("select thumbnail from oauth_client where id = $1")
async def find_thumbnail(db: Queries, client_id: str) -> bytes | None:
    """The thumbnail of any account's client, as thumbnails are public."""


@dataclass(frozen=True, slots=True)
class ListedClient:
    """What an operator sees."""

    id: str
    account_id: int
    status: ClientStatus
    users: int
    """Who have let it in."""
    created: datetime
    label: str
    redirect_uri: str


@query("""
    select c.id, c.account_id, c.status, c.created, c.label, c.redirect_uri,
        (select count(distinct p.user_id) from authorized_app p
            where p.client_id = c.id and p.revoked is null) as users
    from oauth_client c order by c.number
    """)
async def list_clients(db: Queries) -> list[ListedClient]:
    """The clients of all accounts, the oldest first."""


@query("update oauth_client set status = $2 where id = $1 returning true")
async def set_status(db: Queries, client_id: str, status: ClientStatus) -> bool:
    """Tokens of a client that is not active are refused; `settle` after it. False: no such one."""


HELD = "select id, account_id, false as waits from oauth_client"
"""What ends with accounts."""
