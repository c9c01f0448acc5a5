"""What instances and their backups are charged for, as SQL."""

# ruff: noqa: S608  (statements are put together from constants)

from datetime import datetime

from roost.core.billing.ledger import Billable, record
from roost.core.billing.ledger_queries import price_sql
from roost.store import Queries

CHARGED = Billable(
    "compute",
    "Instance",
    f"""
    select i.id, i.account_id, i.label, i.type as plan, i.region, 1 as quantity,
        {price_sql("t.price", "t.region_prices", "i.region")}, i.tags
    from compute_instance i join compute_type t on t.id = i.type
    """,
)
_BACKUP_PRICE = price_sql(
    "t.addons -> 'backups' -> 'price'", "t.addons -> 'backups' -> 'region_prices'", "i.region"
)
CHARGED_BACKUPS = Billable(
    "backup",
    "Backups",
    f"""
    select i.id, i.account_id, i.label, i.type as plan, i.region, 1 as quantity,
        {_BACKUP_PRICE}, i.tags
    from compute_instance i join compute_type t on t.id = i.type
    where i.backups_enabled
    """,
)


async def charge(db: Queries, compute_id: int, now: datetime) -> None:
    """For the instance and its backups, as they are from now on."""
    await record(db, CHARGED, compute_id, now)
    await record(db, CHARGED_BACKUPS, compute_id, now)
