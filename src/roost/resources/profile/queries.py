"""SQL of profiles, which are columns of their users."""

from collections.abc import Mapping

from roost.store import Queries
from roost.store.paging import Listing
from roost.store.query import query
from roost.store.statement import Statement

PROFILES = Listing(
    record="""
        u.id as uid, u.username, u.email, u.phone_number as verified_phone_number, u.timezone,
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

_UPDATE = Statement(
    """
    update api_user set email = coalesce(:email, email), timezone = coalesce(:timezone, timezone),
        email_notifications = coalesce(:email_notifications, email_notifications),
        lish_auth_method = coalesce(:lish_auth_method, lish_auth_method),
        authorized_keys = case when :sets_keys then :authorized_keys else authorized_keys end
    where id = :user_id
    """
)


async def update_profile(
    db: Queries, user_id: int, changes: Mapping[str, object], *, sets_keys: bool
) -> None:
    """Change the columns that have a value, and with `sets_keys` the keys, also to null."""
    await db.execute(*_UPDATE.of(**changes, user_id=user_id, sets_keys=sets_keys))


@query("select preferences from api_user where id = $1")
async def find_preferences(db: Queries, user_id: int) -> str:
    """JSON text."""


@query("update api_user set preferences = $2 where id = $1")
async def save_preferences(db: Queries, user_id: int, preferences: str) -> None: ...
