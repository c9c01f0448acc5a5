"""SQL of profiles, which are columns of their users."""

from roost.resources.profile.bodies import UpdateProfile
from roost.store import Queries
from roost.store.paging import Listing

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


async def update_profile(db: Queries, user_id: int, body: UpdateProfile) -> None:
    """Change what the body names, save two_factor_auth and restricted."""
    await db.execute(
        """
        update api_user set email = coalesce($2, email), timezone = coalesce($3, timezone),
            email_notifications = coalesce($4, email_notifications),
            lish_auth_method = coalesce($5, lish_auth_method),
            authorized_keys = case when $6 then $7 else authorized_keys end
        where id = $1
        """,
        user_id,
        body.email,
        body.timezone,
        body.email_notifications,
        body.lish_auth_method,
        "authorized_keys" in body.model_fields_set,
        body.authorized_keys,
    )


async def find_preferences(db: Queries, user_id: int) -> str:
    """JSON text."""
    preferences: str = await db.fetchval("select preferences from api_user where id = $1", user_id)
    return preferences


async def save_preferences(db: Queries, user_id: int, preferences: str) -> None:
    await db.execute("update api_user set preferences = $2 where id = $1", user_id, preferences)
