"""SQL of the alerts that accounts were told of."""

from collections.abc import Collection
from datetime import datetime

from roost.store import Queries
from roost.store.query import query

Alert = tuple[int, str]
"""An instance, and which of its alerts."""


@query("""
    select distinct account_id from compute_instance where account_id > $1
    order by account_id limit $2
    """)
async def accounts_after(db: Queries, after: int, limit: int) -> list[int]:
    """The next accounts that have instances, by id."""


async def begin(
    db: Queries, account_id: int, alerts: Collection[Alert], now: datetime
) -> set[Alert]:
    """Note that exactly these are exceeded; those of which the account was not told yet (UTC)."""
    ids, names = [each[0] for each in alerts], [each[1] for each in alerts]
    await db.execute(
        """
        delete from alert_told t using compute_instance i
        where i.id = t.compute_id and i.account_id = $1 and not exists (
            select from unnest($2::bigint[], $3::text[]) as a (id, name)
            where a.id = t.compute_id and a.name = t.alert)
        """,
        account_id,
        ids,
        names,
    )
    rows = await db.fetch(
        """
        insert into alert_told (compute_id, alert, since)
        select i.id, a.name, $4 from unnest($2::bigint[], $3::text[]) as a (id, name)
        join compute_instance i on i.id = a.id and i.account_id = $1
        on conflict do nothing returning compute_id, alert
        """,
        account_id,
        ids,
        names,
        now,
    )
    return {(row["compute_id"], row["alert"]) for row in rows}
