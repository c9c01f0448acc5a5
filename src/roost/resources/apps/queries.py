"""SQL of authorised apps: consents, each with the family of tokens that came from it."""

from datetime import datetime

from roost.core.lists import listing_of
from roost.core.revocation_queries import CHANNEL
from roost.resources.apps.records import AuthorizedAppRow
from roost.resources.oauth_clients.entity import THUMBNAIL_URL
from roost.store import Queries, notify

APPS = listing_of(
    AuthorizedAppRow,
    source="authorized_app a join oauth_client c on c.id = a.client_id",
    scope="a.user_id = $1 and a.revoked is null and (a.expiry is null or a.expiry > $2)",
    key="a.id",
    sql={
        "label": "c.label",
        "thumbnail_url": THUMBNAIL_URL,
        "website": "substring(c.redirect_uri from '^https?://[^/?#]+')",
    },
)


async def holds(db: Queries, user_id: int, app_id: int, now: datetime) -> bool:
    """Whether the user lets the app in; nobody revokes it until the transaction ends."""
    return bool(
        await db.fetchval(
            """
            select true from authorized_app a
            where a.user_id = $1 and (a.expiry is null or a.expiry > $2) and a.revoked is null
                and a.id = $3
            for update
            """,
            user_id,
            now,
            app_id,
        )
    )


async def revoke_family(db: Queries, app_id: int, now: datetime) -> bool:
    """End a consent, all its tokens, and the codes and refresh tokens that could make more.

    `settle` after the commit. False for a consent that had ended before.
    """
    ended = await db.fetchval(
        "update authorized_app set revoked = $2 where id = $1 and revoked is null returning true",
        app_id,
        now,
    )
    await db.execute(
        "update token set revoked = $2 where app_id = $1 and revoked is null", app_id, now
    )
    await db.execute("update oauth_code set used = true where app_id = $1", app_id)
    await db.execute("update refresh_token set used = true where app_id = $1", app_id)
    if ended:
        await notify(db, CHANNEL)
    return bool(ended)
