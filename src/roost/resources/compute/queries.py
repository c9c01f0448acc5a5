"""SQL of compute instances."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Mapping, Sequence
from datetime import datetime

import orjson
from typing_extensions import TypedDict

from roost.core.instance_queries import InstanceStatus
from roost.core.lists import listing_of
from roost.resources.compute.records import Alerts, InstanceRow
from roost.store import Queries
from roost.store.paging import Counted
from roost.store.query import query
from roost.store.statement import Statement

INSTANCES = listing_of(
    InstanceRow,
    source="compute_instance i",
    scope="i.account_id = $1",
    key="i.id",
    granted=("'compute'", "i.id"),
    counted=Counted("'compute'"),
    sql={
        "specs": """
            (select row_to_json(specs) from (
                select i.disk, i.memory, i.vcpus, i.gpus, i.transfer) specs)
            """,
        "backups": """
            (select row_to_json(backups) from (
                select i.backups_enabled as enabled, i.backups_last is not null as available,
                    (select row_to_json(schedule) from (
                        select case when i.backups_enabled then i.backup_day end as day,
                            case when i.backups_enabled then i.backup_window end as "window"
                    ) schedule) as schedule,
                    i.backups_last as last_successful) backups)
            """,
        "hypervisor": "'kvm'",
    },
)


class NewInstance(TypedDict):
    """A row to insert."""

    id: int
    account_id: int
    label: str
    group: str
    tags: list[str]
    region: str
    image: str | None
    type: str
    status: InstanceStatus
    now: datetime
    ipv4: list[str]
    ipv6: str
    disk: int
    memory: int
    vcpus: int
    gpus: int
    transfer: int
    alerts: Alerts
    host_uuid: str
    backups_enabled: bool
    engine: str
    host: str
    user_data: bytes | None
    """Sealed."""


@query("select nextval(pg_get_serial_sequence('compute_instance', 'id'))")
async def next_id(db: Queries) -> int: ...


_INSERT = Statement(
    f"""
    insert into compute_instance as i (id, account_id, label, "group", tags, region, image, type,
        status, created, updated, ipv4, ipv6, disk, memory, vcpus, gpus, transfer, alerts,
        has_user_data, host_uuid, engine, host, user_data, backups_enabled, backup_day,
        backup_window)
    select :id, :account_id, :label, :group, :tags, :region, :image, :type, :status, :now, :now,
        :ipv4, :ipv6, :disk, :memory, :vcpus, :gpus, :transfer, :alerts,
        :user_data::bytea is not null, :host_uuid, :engine, :host, :user_data, backups.enabled,
        case when backups.enabled then 'Scheduling' end,
        case when backups.enabled then 'Scheduling' end
    from (select :backups_enabled or a.backups_enabled as enabled
            from account a where a.id = :account_id) backups
    on conflict (account_id, label) where status <> 'deleting' do nothing
    returning {INSTANCES.record_text}
    """
)


async def insert(db: Queries, new: NewInstance) -> str | None:
    """The instance's record; None when the account has one of this label."""
    alerts = orjson.dumps(new["alerts"]).decode()
    record: str | None = await db.fetchval(*_INSERT.of(**{**new, "alerts": alerts}))
    return record


@query("""
    select id, status from compute_instance
    where region = $1 and host = $2 and id > $3 order by id limit $4
    """)
async def statuses(
    db: Queries, region: str, host: str, after: int, limit: int
) -> dict[int, InstanceStatus]:
    """The statuses of the region's next instances that are on a host, by id."""


@query("select exists (select from compute_instance where account_id = $1 and id = $2)")
async def exists(db: Queries, account_id: int, compute_id: int) -> bool:
    """Whether the account has such an instance."""


async def undelete(db: Queries, compute_id: int, now: datetime) -> None:
    """A deletion that failed leaves the instance offline, to be deleted again.

    When its label was given to another one meanwhile, it is shown with its id behind it.
    """
    await db.execute(
        """
        update compute_instance i set status = 'offline', updated = $2,
            label = case when exists (
                    select from compute_instance o where o.account_id = i.account_id
                        and o.label = i.label and o.status <> 'deleting')
                then rtrim(left(i.label, 63 - length(i.id::text)), '-_.') || '-' || i.id
                else i.label end
        where i.id = $1 and i.status = 'deleting'
        """,
        compute_id,
        now.replace(microsecond=0),
    )


async def begin_boot(
    db: Queries, compute_id: int, status: InstanceStatus, config_id: int | None, now: datetime
) -> None:
    """The status, and the config that is to be booted; None, or one that is gone by now, keeps
    that of the last boot."""
    await db.execute(
        """
        update compute_instance
        set status = $2, rescued = false, updated = $4,
            config_id = coalesce((select c.id from compute_config c where c.id = $3), config_id)
        where id = $1 and status <> 'deleting'
        """,
        compute_id,
        status,
        config_id,
        now.replace(microsecond=0),
    )


async def update(
    db: Queries,
    compute_id: int,
    *,
    label: str | None,
    tags: Sequence[str] | None,
    group: str | None,
    alerts: Mapping[str, int],
    watchdog_enabled: bool | None,
    now: datetime,
) -> bool:
    """Change what is not None. False when everything is so already.

    asyncpg.UniqueViolationError for a label that is taken.
    """
    changed = await db.fetchval(
        """
        update compute_instance set label = coalesce($2, label), tags = coalesce($3, tags),
            "group" = coalesce($4, "group"),
            alerts = (alerts::jsonb || $5::jsonb)::json,
            watchdog_enabled = coalesce($6, watchdog_enabled), updated = $7
        where id = $1 and (label <> $2 or tags <> $3 or "group" <> $4
            or not alerts::jsonb @> $5::jsonb or watchdog_enabled <> $6) returning true
        """,
        compute_id,
        label,
        tags,
        group,
        orjson.dumps(alerts).decode(),
        watchdog_enabled,
        now.replace(microsecond=0),
    )
    return changed is not None


@query("update compute_instance set host = $2, target_host = null where id = $1")
async def set_host(db: Queries, compute_id: int, host: str) -> None:
    """Its guest is there from now on, and in no other place."""


@query("""
    select exists (select from compute_instance
        where id = $1 and host <> $2 and target_host = $2)
    """)
async def is_expected(db: Queries, compute_id: int, host: str) -> bool:
    """Whether a job brings the instance to that host."""


@query("update compute_instance set target_host = $2 where id = $1")
async def set_target_host(db: Queries, compute_id: int, host: str | None) -> None:
    """Where a job moves it to; None: it stays."""


@query("delete from compute_instance where id = $1")
async def delete(db: Queries, compute_id: int) -> None: ...


@query("update compute_instance set engine = $2 where region = $1 and engine is null")
async def set_engine(db: Queries, region: str, engine: str) -> None:
    """The engine of a region's instances for which none is known."""


@query("select id from compute_instance where source_id = $1 and status = 'cloning'")
async def clones(db: Queries, compute_id: int) -> list[int]:
    """The clones of the instance that are being made."""


@query("select id from compute_backup where compute_id = $1")
async def backup_ids(db: Queries, compute_id: int) -> list[int]:
    """The backups of an instance."""


@query("delete from compute_backup where id = any($1)")
async def delete_backups(db: Queries, backup_ids: Sequence[int]) -> None: ...


HELD = "select id::text, account_id, status = 'deleting' as waits from compute_instance"
"""What ends with accounts."""
