"""SQL of compute instances."""

from dataclasses import dataclass
from datetime import datetime

import orjson
from typing_extensions import TypedDict

from roost.resources.compute.bodies import UpdateInstance
from roost.resources.compute.records import Alerts, InstanceStatus
from roost.store import Queries
from roost.store.paging import Column, Listing

INSTANCES = Listing(
    record="""
        i.id, i.label, i."group", i.status, i.created, i.updated, i.type, i.ipv4, i.ipv6,
        i.image, i.region,
        (select row_to_json(specs) from (
            select i.disk, i.memory, i.vcpus, i.gpus, i.transfer) specs) as specs,
        i.alerts,
        (select row_to_json(backups) from (
            select false as enabled, false as available,
                json '{"day":null,"window":null}' as schedule, null as last_successful
            ) backups) as backups,
        'kvm' as hypervisor, i.watchdog_enabled, i.tags, i.host_uuid, i.has_user_data
        """,
    source="compute_instance i",
    scope="i.account_id = $1",
    key="i.id",
    granted=("'compute'", "i.id"),
    columns={
        "id": Column("i.id", "int"),
        "label": Column("i.label", "text"),
        "region": Column("i.region", "text"),
        "image": Column("i.image", "text"),
        "group": Column('i."group"', "text"),
        "tags": Column("i.tags", "texts"),
        "ipv4": Column("i.ipv4", "texts"),
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
    swap_size: int
    alerts: Alerts
    interfaces: str
    has_user_data: bool
    host_uuid: str
    engine: str
    setup: bytes


@dataclass(frozen=True, slots=True)
class InstanceFacts:
    """What jobs and rules need of a row."""

    id: int
    account_id: int
    label: str
    status: InstanceStatus
    region: str
    image: str | None
    type: str
    disk: int
    memory: int
    vcpus: int
    swap_size: int
    ipv4: list[str]
    ipv6: str | None
    watchdog_enabled: bool
    provisioned: bool
    """Whether the engine holds the guest's disks."""
    engine: str | None
    """The name of the engine that holds the guest, or is to make it; None: not known yet."""
    setup: bytes


_FACTS = """
    select id, account_id, label, status, region, image, type, disk, memory, vcpus, swap_size,
        ipv4, ipv6, watchdog_enabled, provisioned, engine, setup
    from compute_instance
"""


async def next_id(db: Queries) -> int:
    compute_id: int = await db.fetchval(
        "select nextval(pg_get_serial_sequence('compute_instance', 'id'))"
    )
    return compute_id


_INSERT = f"""
    insert into compute_instance as i (id, account_id, label, "group", tags, region, image, type,
        status, created, updated, ipv4, ipv6, disk, memory, vcpus, gpus, transfer, swap_size,
        alerts, interfaces, has_user_data, host_uuid, engine, setup)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        $19, $20, $21, $22, $23, $24)
    on conflict (account_id, label) do nothing returning {INSTANCES.record_text}
"""  # noqa: S608 - constants


async def insert(db: Queries, new: NewInstance) -> str | None:
    """The instance's record; None when the account has one of this label."""
    record: str | None = await db.fetchval(
        _INSERT,
        new["id"],
        new["account_id"],
        new["label"],
        new["group"],
        new["tags"],
        new["region"],
        new["image"],
        new["type"],
        new["status"],
        new["now"],
        new["ipv4"],
        new["ipv6"],
        new["disk"],
        new["memory"],
        new["vcpus"],
        new["gpus"],
        new["transfer"],
        new["swap_size"],
        orjson.dumps(new["alerts"]).decode(),
        new["interfaces"],
        new["has_user_data"],
        new["host_uuid"],
        new["engine"],
        new["setup"],
    )
    return record


async def lock(db: Queries, account_id: int, compute_id: int) -> InstanceFacts | None:
    """The caller's instance, which nobody else changes until the end of the transaction."""
    row = await db.fetchrow(
        f"{_FACTS} where account_id = $1 and id = $2 for update", account_id, compute_id
    )
    return None if row is None else InstanceFacts(**row)


async def find(db: Queries, compute_id: int) -> InstanceFacts | None:
    """An instance of any account, for Roost's own work."""
    row = await db.fetchrow(f"{_FACTS} where id = $1", compute_id)
    return None if row is None else InstanceFacts(**row)


async def lock_any(db: Queries, compute_id: int) -> InstanceFacts | None:
    """An instance of any account, which nobody else changes until the end of the transaction."""
    row = await db.fetchrow(f"{_FACTS} where id = $1 for update", compute_id)
    return None if row is None else InstanceFacts(**row)


async def in_region(db: Queries, region: str) -> list[InstanceFacts]:
    rows = await db.fetch(f"{_FACTS} where region = $1 order by id", region)
    return [InstanceFacts(**row) for row in rows]


async def set_status(db: Queries, compute_id: int, status: InstanceStatus, now: datetime) -> None:
    """The one place that writes a status. What is being deleted stays so."""
    await db.execute(
        """
        update compute_instance set status = $2, updated = $3
        where id = $1 and status <> 'deleting'
        """,
        compute_id,
        status,
        now.replace(microsecond=0),
    )


async def undelete(db: Queries, compute_id: int, now: datetime) -> None:
    """A deletion that failed leaves the instance offline, to be deleted again."""
    await db.execute(
        """
        update compute_instance set status = 'offline', updated = $2
        where id = $1 and status = 'deleting'
        """,
        compute_id,
        now.replace(microsecond=0),
    )


async def set_provisioned(db: Queries, compute_id: int, setup: bytes) -> None:
    """The guest has been made; `setup` is what it applies, without the plain password."""
    await db.execute(
        "update compute_instance set setup = $2, provisioned = true where id = $1",
        compute_id,
        setup,
    )


async def set_removed(db: Queries, compute_id: int) -> None:
    """Nothing is left of the guest."""
    await db.execute("update compute_instance set provisioned = false where id = $1", compute_id)


async def ipv4_by_id(db: Queries) -> dict[int, list[str]]:
    """The IPv4 addresses that each instance shows."""
    rows = await db.fetch("select id, ipv4 from compute_instance")
    return {row["id"]: row["ipv4"] for row in rows}


async def find_by_ipv6(db: Queries, account_id: int, address: str) -> tuple[int, str] | None:
    """The id and the region of the account's instance with this SLAAC address."""
    row = await db.fetchrow(
        "select id, region from compute_instance where account_id = $1 and ipv6 = $2 || '/128'",
        account_id,
        address,
    )
    return None if row is None else (row["id"], row["region"])


async def existing(db: Queries, ids: list[int]) -> set[int]:
    """Those of the ids that are instances."""
    rows = await db.fetch("select id from compute_instance where id = any($1)", ids)
    return {row["id"] for row in rows}


async def regions_in_use(db: Queries) -> list[str]:
    rows = await db.fetch("select distinct region from compute_instance order by region")
    return [row["region"] for row in rows]


async def engines_in_use(db: Queries) -> list[tuple[str, str]]:
    """Regions and the names of the engines that hold guests of theirs."""
    rows = await db.fetch(
        """
        select distinct region, engine from compute_instance where engine is not null
        order by region, engine
        """
    )
    return [(row["region"], row["engine"]) for row in rows]


async def set_engine(db: Queries, region: str, engine: str) -> None:
    """The engine of a region's instances for which none is known."""
    await db.execute(
        "update compute_instance set engine = $2 where region = $1 and engine is null",
        region,
        engine,
    )


async def regions_of(db: Queries, account_id: int) -> list[str]:
    """Where an account has instances."""
    rows = await db.fetch(
        "select distinct region from compute_instance where account_id = $1", account_id
    )
    return [row["region"] for row in rows]


async def set_ipv4(db: Queries, compute_id: int, addresses: list[str]) -> None:
    await db.execute("update compute_instance set ipv4 = $2 where id = $1", compute_id, addresses)


async def update(db: Queries, compute_id: int, body: UpdateInstance, now: datetime) -> None:
    """Change what the body names. asyncpg.UniqueViolationError for a label that is taken."""
    alerts = body.alerts.model_dump(exclude_none=True) if body.alerts else {}
    await db.execute(
        """
        update compute_instance set label = coalesce($2, label), tags = coalesce($3, tags),
            "group" = coalesce($4, "group"),
            alerts = (alerts::jsonb || $5::jsonb)::json,
            watchdog_enabled = coalesce($6, watchdog_enabled), updated = $7
        where id = $1
        """,
        compute_id,
        body.label,
        body.tags,
        body.group,
        orjson.dumps(alerts).decode(),
        body.watchdog_enabled,
        now.replace(microsecond=0),
    )


async def delete(db: Queries, compute_id: int) -> None:
    await db.execute("delete from compute_instance where id = $1", compute_id)
