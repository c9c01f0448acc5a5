"""SQL of disks."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity
from roost.core.lists import listing_of
from roost.resources.compute.disk_engine import DiskSpec, Filesystem
from roost.resources.compute.disks.records import DiskRow, DiskStatus
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement, inserted, selected

DISKS = listing_of(
    DiskRow,
    source="compute_disk d join compute_instance i on i.id = d.compute_id",
    scope="i.account_id = $1 and d.compute_id = $2",
    key="d.id",
)


@dataclass(frozen=True, slots=True)
class DiskFacts:
    """What jobs and rules need of a row."""

    id: int
    compute_id: int
    label: str
    status: DiskStatus
    size: int
    """MB"""
    filesystem: Filesystem
    image: str | None
    made: bool
    """Whether the engine holds the disk."""
    setup: bytes | None
    """Sealed: what a guest that boots from the disk applies."""
    password_revision: int
    version: int
    """Another one after each change of the row."""

    @property
    def spec(self) -> DiskSpec:
        return self.of_size(self.size)

    def of_size(self, size: int) -> DiskSpec:
        """The specification with another size in MB."""
        return DiskSpec(self.id, self.compute_id, size, self.filesystem, self.image)

    def copy_for(self, compute_id: int, label: str) -> "NewDisk":
        """The row of a copy, with what a guest that boots from it applies."""
        return NewDisk(
            compute_id=compute_id,
            label=label,
            size=self.size,
            filesystem=self.filesystem,
            image=self.image,
            setup=self.setup,
            password_revision=self.password_revision,
        )


_COLUMNS = selected(DiskFacts, version="xmin")


@dataclass(frozen=True, slots=True)
class NewDisk:
    """A row to insert, of a disk that is not made yet."""

    compute_id: int
    label: str
    size: int
    filesystem: Filesystem
    image: str | None = None
    setup: bytes | None = None
    password_revision: int = 0


_NEW = inserted(NewDisk, status="'not ready'", created=":now", updated=":now")
_INSERT = Statement(f"""
    insert into compute_disk {_NEW}
    returning {_COLUMNS}
""")


async def insert(db: Queries, new: NewDisk, now: datetime) -> DiskFacts:
    row = await db.fetchrow(*_INSERT.of(new, now=now.replace(microsecond=0)))
    assert row is not None
    return DiskFacts(**row)


@query(f"select {_COLUMNS} from compute_disk where compute_id = $1 and id = $2")
async def find(db: Queries, compute_id: int, disk_id: int) -> DiskFacts | None:
    """A disk of the instance."""


@query(f"select {_COLUMNS} from compute_disk where compute_id = $1 order by id")
async def of_instance(db: Queries, compute_id: int) -> list[DiskFacts]:
    """All disks of the instance, by id."""


async def of_instances(db: Queries, compute_ids: Sequence[int]) -> dict[int, list[DiskFacts]]:
    """All disks of the instances, by instance."""
    rows = await db.fetch(
        f"select {_COLUMNS} from compute_disk where compute_id = any($1) order by id", compute_ids
    )
    found: dict[int, list[DiskFacts]] = {}
    for row in rows:
        found.setdefault(row["compute_id"], []).append(DiskFacts(**row))
    return found


@query("select exists (select from compute_config_device where config_id = $1 and disk_id = $2)")
async def is_in_config(db: Queries, config_id: int, disk_id: int) -> bool:
    """Whether the config names the disk."""


@query("select coalesce(sum(size), 0) from compute_disk where compute_id = $1")
async def allocated(db: Queries, compute_id: int) -> int:
    """MB that the instance's disks take of its plan."""


async def set_label(db: Queries, disk_id: int, label: str, now: datetime) -> None:
    await db.execute(
        "update compute_disk set label = $2, updated = $3 where id = $1",
        disk_id,
        label,
        now.replace(microsecond=0),
    )


async def set_status(db: Queries, disk_id: int, status: DiskStatus, now: datetime) -> None:
    await db.execute(
        "update compute_disk set status = $2, updated = $3 where id = $1",
        disk_id,
        status,
        now.replace(microsecond=0),
    )


@query("update compute_disk set size = $2 where id = $1")
async def set_size(db: Queries, disk_id: int, size: int) -> None:
    """MB"""


async def set_setup(db: Queries, disk_id: int, setup: bytes, revision: int, now: datetime) -> None:
    """What a guest that boots from the disk applies from now on."""
    await db.execute(
        """
        update compute_disk set setup = $2, password_revision = $3, updated = $4 where id = $1
        """,
        disk_id,
        setup,
        revision,
        now.replace(microsecond=0),
    )


async def set_made(db: Queries, setups: Mapping[int, bytes | None], now: datetime) -> None:
    """The engine holds these disks; their setups are now without the plain password."""
    await db.execute(
        """
        update compute_disk d set made = true, status = 'ready', setup = m.setup, updated = $3
        from unnest($1::bigint[], $2::bytea[]) as m (id, setup) where d.id = m.id
        """,
        list(setups),
        list(setups.values()),
        now.replace(microsecond=0),
    )


@query("""
    update compute_disk set made = false, status = 'not ready'
    where compute_id = $1 and id <> all($2::bigint[])
    """)
async def set_lost(db: Queries, compute_id: int, kept: Collection[int] = ()) -> None:
    """The engine holds none of the instance's disks, save those that it kept."""


@query("update compute_disk set made = false where id = $1")
async def set_unmade(db: Queries, disk_id: int) -> None:
    """The engine does not hold the disk."""


@query("""
    update compute_disk set status = case when made then 'ready' else 'not ready' end
    where compute_id = $1
    """)
async def settle(db: Queries, compute_id: int) -> None:
    """Statuses that no job is going to end."""


@query("delete from compute_disk where id = $1")
async def delete(db: Queries, disk_id: int) -> None:
    """The row, and what configs say of it."""


@query("delete from compute_disk where id = any($1)")
async def delete_all(db: Queries, disk_ids: Collection[int]) -> None:
    """Several rows, and what configs say of them."""


def disk_entity(compute_id: int, disk_id: int, label: str) -> Entity:
    path = f"/compute/instances/{compute_id}/disks/{{id}}"
    return EntityKind(name="disk", path=path).entity(disk_id, label)


@query(f"""
    select {_COLUMNS} from compute_disk where id = $2 and compute_id in (
        select id from compute_instance where account_id = $1)
    """)
async def find_own(db: Queries, account_id: int, disk_id: int) -> DiskFacts | None:
    """A disk of any instance of the account."""
