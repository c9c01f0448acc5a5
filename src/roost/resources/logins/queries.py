"""SQL of logins."""

from dataclasses import replace
from datetime import datetime, timedelta

from roost.core.lists import listing_of
from roost.resources.logins.records import LoginRow, LoginStatus
from roost.store import Queries
from roost.store.query import query

KEPT = timedelta(days=90)
"""How long logins are shown (spec B account logins window)."""

ACCOUNT_LOGINS = listing_of(
    LoginRow,
    source="login l",
    scope="l.account_id = $1 and l.datetime > $2 and l.status = 'successful'",
    key="l.id",
    sql={
        "ip": "host(l.ip)",
    },
)
PROFILE_LOGINS = replace(ACCOUNT_LOGINS, scope="l.user_id = $1 and l.datetime > $2")
"""Also those that failed, so that users hear of who tries their passwords."""


async def record_login(
    db: Queries, user_id: int, ip: str, status: LoginStatus, now: datetime
) -> None:
    """Keep that somebody came in as the user, or failed to, from an IP address."""
    await db.execute(
        """
        with seen as (
            update api_user set last_login = $4, last_login_status = $3 where id = $1
            returning id, account_id, username, restricted)
        insert into login (account_id, user_id, username, ip, datetime, status, restricted)
        select account_id, id, username, $2::inet, $4, $3, restricted from seen
        """,
        user_id,
        ip,
        status,
        now.replace(microsecond=0),
    )


@query("""
    with old as (
        delete from login where id in (
            select id from login where datetime <= $1 order by datetime limit $2)
        returning id)
    select count(*) from old
    """)
async def delete_old(db: Queries, before: datetime, limit: int) -> int:
    """At most `limit` logins of all accounts; how many it were."""
