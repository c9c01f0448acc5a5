"""SQL of profiles, which are columns of their users."""

from collections.abc import Mapping

from roost.core.lists import listing_of
from roost.resources.profile.records import ProfileRow
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement, changed

PROFILES = listing_of(
    ProfileRow,
    source="api_user u",
    scope="u.account_id = $1",
    key="u.id",
    sql={
        "uid": "u.id",
        "verified_phone_number": "u.phone_number",
        "referrals": """
            json '{"code":"","url":"","total":0,"completed":0,"pending":0,"credit":0}'
            """,
        "ip_whitelist_enabled": "false",
        "two_factor_auth": "u.tfa_enabled",
        "authentication_type": "'password'",
    },
)

_UPDATE = Statement(
    f"""
    update api_user set {changed("email", "timezone", "email_notifications", "lish_auth_method")},
        authorized_keys = case when :sets_keys then :authorized_keys else authorized_keys end
    where id = :user_id
    """  # noqa: S608 - constants
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
