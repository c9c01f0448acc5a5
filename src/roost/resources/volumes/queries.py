"""SQL of volumes."""

# ruff: noqa: S608  (statements are put together from constants)

from dataclasses import dataclass
from datetime import datetime

from asyncpg import Record

from roost.core.billing.ledger import Billable
from roost.core.billing.ledger_queries import price_sql
from roost.core.bindings import Binding, between
from roost.core.entities.kind import ResourceKind
from roost.core.entities.queries import label_sql
from roost.core.lists import listing_of
from roost.resources.compute import totals_queries as computes
from roost.resources.compute.entity import COMPUTE
from roost.resources.volumes.engine import VolumeSpec
from roost.resources.volumes.records import VolumeRow, VolumeStatus
from roost.store import Queries
from roost.store.paging import Counted
from roost.store.query import query
from roost.store.statement import Statement, inserted, selected

VOLUMES = listing_of(
    VolumeRow,
    source="volume v",
    scope="v.account_id = $1 and not v.deleting",
    key="v.id",
    granted=("'volume'", "v.id"),
    counted=Counted("'volume'", hidden="v.account_id = $1 and v.deleting"),
    sql={
        "filesystem_path": "'/dev/disk/by-id/scsi-0Roost_Volume_' || v.label",
        "compute_label": label_sql(COMPUTE, "v.compute_id"),
    },
)

VOLUMES_OF_INSTANCE = VOLUMES.narrowed("v.compute_id = $2")


@dataclass(frozen=True, slots=True)
class VolumeFacts:
    """What jobs and rules need of a row."""

    id: int
    account_id: int
    label: str
    region: str
    engine: str
    host: str
    """On which it is."""
    size: int
    """GiB"""
    status: VolumeStatus
    compute_id: int | None
    persist_across_boots: bool
    made: bool
    """Whether the engine holds the volume."""
    source_id: int | None
    """What a clone is copied from, until it is there."""
    deleting: bool
    """Whether a job removes it. It is shown to nobody any more, and its label is free."""
    version: int
    """Another one after each change of the row."""

    @property
    def spec(self) -> VolumeSpec:
        return VolumeSpec(self.id, self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVolume:
    """A row to insert."""

    account_id: int
    label: str
    region: str
    engine: str
    host: str
    size: int
    tags: list[str]
    compute_id: int | None = None
    source_id: int | None = None
    now: datetime


_FACTS = f"select {selected(VolumeFacts, version='xmin')} from volume"

_NEW = inserted(
    NewVolume,
    status="'creating'",
    hardware_type="'nvme'",
    created=":now",
    updated=":now",
)
_INSERT = Statement(f"""
    insert into volume as v {_NEW}
    on conflict (account_id, label) where not deleting do nothing
    returning v.id, {VOLUMES.record_text} as record
""")


async def insert(db: Queries, new: NewVolume) -> tuple[int, str] | None:
    """The volume's id and record; None when the account has one of this label."""
    row = await db.fetchrow(*_INSERT.of(new))
    return None if row is None else (row["id"], row["record"])


async def find(db: Queries, volume_id: int) -> VolumeFacts | None:
    """A volume of any account, for Roost's own work."""
    return _facts(await db.fetchrow(f"{_FACTS} where id = $1", volume_id))


async def find_own(db: Queries, account_id: int, volume_id: int) -> VolumeFacts | None:
    """A volume that the account has."""
    sql = f"{_FACTS} where account_id = $1 and id = $2 and not deleting"
    return _facts(await db.fetchrow(sql, account_id, volume_id))


async def lock(db: Queries, account_id: int, volume_id: int) -> VolumeFacts | None:
    """A volume of the account, which nobody else changes until the end of the transaction.

    Who locks an instance too does that before.
    """
    sql = f"{_FACTS} where account_id = $1 and id = $2 and not deleting for no key update"
    return _facts(await db.fetchrow(sql, account_id, volume_id))


async def lock_any(db: Queries, volume_id: int) -> VolumeFacts | None:
    """A volume of any account, which nobody else changes until the end of the transaction."""
    return _facts(await db.fetchrow(f"{_FACTS} where id = $1 for no key update", volume_id))


@query(f"{_FACTS} where id > $1 order by id limit $2")
async def all_of_them(db: Queries, after: int, limit: int) -> list[VolumeFacts]:
    """The next ones of all regions, by id."""


@query(f"{_FACTS} where region = $1 and host = $2 and id > $3 order by id limit $4")
async def on_host(db: Queries, region: str, host: str, after: int, limit: int) -> list[VolumeFacts]:
    """The next ones of the region that are on a host, by id."""


@query(f"{_FACTS} where compute_id = $1 order by id")
async def of_instance(db: Queries, compute_id: int) -> list[VolumeFacts]:
    """All that are attached to it, also those that are still being made, by id."""


@query("select distinct region from volume order by region")
async def regions_in_use(db: Queries) -> list[str]: ...


async def update(
    db: Queries, volume_id: int, label: str | None, tags: list[str] | None, now: datetime
) -> bool:
    """Change what is not None. False when everything is so already.

    asyncpg.UniqueViolationError for a label that is taken.
    """
    changed = await db.fetchval(
        """
        update volume set label = coalesce($2, label), tags = coalesce($3, tags), updated = $4
        where id = $1 and (label <> $2 or tags <> $3) returning true
        """,
        volume_id,
        label,
        tags,
        now.replace(microsecond=0),
    )
    return changed is not None


async def promised_in(db: Queries, region: str, host: str) -> int:
    """GiB that all volumes of a region on a host have, or have soon."""
    coming = await computes.bound_for(db, region, host)
    size: int = await db.fetchval(
        """
        select coalesce(sum(size), 0)::bigint from volume
        where (region = $1 and host = $2) or compute_id = any($3::bigint[])
        """,
        region,
        host,
        coming,
    )
    return size


async def clones(db: Queries, *volume_ids: int) -> list[int]:
    """The clones that are being made of any of the volumes."""
    rows = await db.fetch("select id from volume where source_id = any($1::bigint[])", volume_ids)
    return [row["id"] for row in rows]


def _facts(row: Record | None) -> VolumeFacts | None:
    return None if row is None else VolumeFacts(**row)


_SLOTS = """
    compute_config_device d join volume a on a.id = d.volume_id
        join compute_config c on c.id = d.config_id join compute_instance b on b.id = c.compute_id
    """

BINDINGS = (
    Binding(
        across=between(
            "volume",
            "is attached to",
            "instance",
            "volume a join compute_instance b on b.id = a.compute_id",
        )
    ),
    Binding(across=between("volume", "is in a config of", "instance", _SLOTS)),
)

VOLUME = ResourceKind(
    name="volume",
    path="/volumes/{id}",
    listing=VOLUMES,
    label="v.label",
    tags_table="volume",
    ticket_field="volume_id",
)


async def set_status(
    db: Queries, volume_id: int, status: VolumeStatus, now: datetime, *, made: bool = False
) -> None:
    """The one place that writes a status. A clone that has one is independent of its source.

    `made`: from now on the engine holds it.
    """
    await db.execute(
        """
        update volume set status = $2, source_id = null, updated = $3, made = made or $4
        where id = $1
        """,
        volume_id,
        status,
        now.replace(microsecond=0),
        made,
    )


@query("update volume set made = true where id = $1")
async def set_made(db: Queries, volume_id: int) -> None:
    """The engine holds it."""


async def set_region(db: Queries, volume_id: int, region: str, now: datetime) -> None:
    """An engine of the same name holds it there."""
    await db.execute(
        "update volume set region = $2, updated = $3 where id = $1",
        volume_id,
        region,
        now.replace(microsecond=0),
    )


@query("update volume set host = $2 where id = $1")
async def set_host(db: Queries, volume_id: int, host: str) -> None:
    """Its data are there from now on."""


@query("update volume set size = $2 where id = $1")
async def set_size(db: Queries, volume_id: int, size: int) -> None:
    """GiB"""


async def attach(
    db: Queries, volume_id: int, compute_id: int, persists: bool, now: datetime
) -> None:
    await db.execute(
        """
        update volume set compute_id = $2, persist_across_boots = $3, updated = $4 where id = $1
        """,
        volume_id,
        compute_id,
        persists,
        now.replace(microsecond=0),
    )


async def detach(db: Queries, volume_id: int, compute_id: int, now: datetime) -> None:
    """Nothing happens to one that another instance has, or none."""
    await db.execute(
        """
        update volume set compute_id = null, persist_across_boots = true, updated = $3
        where id = $1 and compute_id = $2
        """,
        volume_id,
        compute_id,
        now.replace(microsecond=0),
    )


@query("update volume set deleting = true, source_id = null where id = $1")
async def set_deleting(db: Queries, volume_id: int) -> None:
    """From now on nobody sees it."""


async def undelete(db: Queries, volume_id: int, now: datetime) -> None:
    """A deletion failed: the volume is there as before, and can be deleted again.

    One that was given up while it was made stays `creating`, as it is of no use. When its label was
    given to another one meanwhile, it is shown with its id behind it.
    """
    await db.execute(
        """
        update volume v set deleting = false, updated = $2,
            status = case when made then 'active' else 'creating' end,
            label = case when exists (
                    select from volume o where o.account_id = v.account_id and o.label = v.label
                        and not o.deleting)
                then rtrim(left(v.label, 31 - length(v.id::text)), '-') || '-' || v.id
                else v.label end
        where v.id = $1 and v.deleting
        """,
        volume_id,
        now.replace(microsecond=0),
    )


@query("delete from volume where id = $1")
async def delete(db: Queries, volume_id: int) -> None:
    """Grants on it and slots that name it go with the row."""


async def engines_in_use(db: Queries) -> list[tuple[str, str]]:
    """Regions and the names of the engines that hold volumes of theirs."""
    rows = await db.fetch("select distinct region, engine from volume order by region, engine")
    return [(row["region"], row["engine"]) for row in rows]


@query("select region, sum(size)::bigint << 30 as size from volume group by region")
async def promised_disk(db: Queries) -> dict[str, int]:
    """Bytes of all volumes by region."""


CHARGED = Billable(
    "blockstorage",
    "Volume",
    f"""
    select v.id, v.account_id, v.label, '' as plan, v.region, v.size as quantity,
        {price_sql("p.price", "p.region_prices", "v.region")}, v.tags
    from volume v join unit_price p on p.service = 'blockstorage'
    where not v.deleting
    """,
)


HELD = """
    select id::text, account_id, deleting or compute_id is not null as waits from volume
    """
"""What ends with accounts: instances before their volumes."""
