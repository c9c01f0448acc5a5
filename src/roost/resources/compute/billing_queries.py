"""What instances, their backups and further addresses are charged for, as SQL."""

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
CHARGED_ADDRESSES = Billable(
    "ip_v4",
    "IPv4 addresses",
    f"""
    select i.id, i.account_id, i.label, '' as plan, i.region, a.further as quantity,
        {price_sql("p.price", "p.region_prices", "i.region")}, i.tags
    from compute_instance i
        cross join lateral (
            select count(*)::integer - 1 as further from ip_address a
            where a.compute_id = i.id and a.public) a
        join unit_price p on p.service = 'ip_v4'
    where a.further > 0
    """,
)
"""All public ones of an instance but the first."""
CHARGED_MANAGED = Billable(
    "managed",
    "Managed service",
    f"""
    select i.id, i.account_id, i.label, '' as plan, i.region, 1 as quantity,
        {price_sql("p.price", "p.region_prices", "i.region")}, i.tags
    from compute_instance i
        join account a on a.id = i.account_id and a.managed
        join unit_price p on p.service = 'managed'
    """,
)
"""Each instance of an account that has it."""
ALL_CHARGED = (CHARGED, CHARGED_BACKUPS, CHARGED_ADDRESSES, CHARGED_MANAGED)


async def charge_addresses(db: Queries, compute_id: int, now: datetime) -> None:
    """For those that the instance has from now on."""
    await record(db, CHARGED_ADDRESSES, compute_id, now)


async def charge(db: Queries, compute_id: int, now: datetime) -> None:
    """For the instance and all that comes with it, as they are from now on."""
    for billable in ALL_CHARGED:
        await record(db, billable, compute_id, now)
