"""SQL of maintenance."""

# ruff: noqa: S608  (statements are put together from constants)

from dataclasses import dataclass
from datetime import datetime

from roost.core.entities.queries import entity_sql
from roost.core.grant_queries import granted_sql
from roost.core.lists import listing_of
from roost.resources.compute.entity import COMPUTE
from roost.resources.maintenance.records import MaintenanceRow, MaintenanceStatus, MaintenanceType
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import selected

_ENTITY = entity_sql(COMPUTE, "m.compute_id")

MAINTENANCE = listing_of(
    MaintenanceRow,
    source="maintenance m",
    scope="m.account_id = $1 and m.status <> 'canceled'",
    key="m.id",
    granted=("'compute'", "m.compute_id"),
    sql={"entity": _ENTITY},
)


@dataclass(frozen=True, slots=True)
class Maintenance:
    """One row."""

    id: int
    compute_id: int
    account_id: int
    type: MaintenanceType
    status: MaintenanceStatus
    reason: str
    when: datetime
    host: str | None
    """Where the instance was when its live migration began."""


_SELECT = f"select {selected(Maintenance)} from maintenance"


@query("""
    select exists (select from maintenance
        where compute_id = $1 and status in ('pending', 'started'))
    """)
async def is_planned(db: Queries, compute_id: int) -> bool:
    """Whether there is any for the instance that has not ended."""


@query("""
    insert into maintenance (compute_id, account_id, type, reason, "when")
    values ($1, $2, $3, $4, $5) returning id
    """)
async def insert(
    db: Queries,
    compute_id: int,
    account_id: int,
    type_: MaintenanceType,
    reason: str,
    when: datetime,
) -> int: ...


@query(f"{_SELECT} where id = $1 for update")
async def lock(db: Queries, maintenance_id: int) -> Maintenance | None:
    """The row, which nobody else changes until the end of the transaction.

    Who needs its instance too locks that first.
    """


@query(f"""
    {_SELECT} where compute_id = $1 and status = 'pending' and type = 'cold_migration'
    order by "when", id limit 1 for update
    """)
async def lock_migration(db: Queries, compute_id: int) -> Maintenance | None:
    """The first migration of an instance that has not begun, locked as `lock` does."""


@query("update maintenance set status = $2 where id = $1")
async def set_status(db: Queries, maintenance_id: int, status: MaintenanceStatus) -> None: ...


@query("update maintenance set status = 'started', host = $2 where id = $1")
async def begin_live(db: Queries, maintenance_id: int, host: str) -> None:
    """It has begun, with the instance on that host."""


@query(f"""{_SELECT} where status in ('pending', 'started') and "when" <= $1 order by id""")
async def due(db: Queries, now: datetime) -> list[Maintenance]:
    """What should have begun by now and has not ended, of all accounts."""


@query(f'{_SELECT} order by "when", id')
async def list_all(db: Queries) -> list[Maintenance]: ...


@dataclass(frozen=True, slots=True)
class Announced:
    """What an account should know of maintenance to come, or on its way."""

    type: MaintenanceType
    status: MaintenanceStatus
    reason: str
    when: datetime
    compute_id: int
    compute_label: str


@query(f"""
    select m.type, m.status, m.reason, m."when", m.compute_id,
        {_ENTITY} ->> 'label' as compute_label
    from maintenance m
    where m.account_id = $1 and m.status in ('pending', 'started')
        and {granted_sql("'compute'", "m.compute_id", "$2")}
    order by m."when", m.id
    """)
async def announced(db: Queries, account_id: int, grantee: int | None) -> list[Announced]:
    """The next first; for a `grantee` only of instances that are granted to them."""
