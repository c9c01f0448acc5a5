"""SQL of images that wait for their data."""

from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUpload:
    """A row to insert."""

    account_id: int
    created_by: str
    label: str
    description: str
    region: str
    engine: str
    capabilities: list[str]
    now: datetime
    hash: bytes
    """Of the secret that its URL ends with."""
    until: datetime


@dataclass(frozen=True, slots=True)
class Pending:
    """An image that waits for data."""

    number: int
    account_id: int
    created: datetime
    created_by: str


_INSERT = Statement(
    """
    insert into image (id, number, account_id, label, description, created, updated, created_by,
        size, type, status, capabilities, region, engine, upload_hash, upload_until)
    select 'private/' || n, n, :account_id, :label, :description, :now, :now, :created_by,
        0, 'manual', 'pending_upload', :capabilities, :region, :engine, :hash, :until
    from nextval('image_number') n returning number
    """
)


async def insert(db: Queries, new: NewUpload) -> int:
    """The image's number."""
    row = await db.fetchrow(*_INSERT.of(new))
    assert row is not None
    number: int = row["number"]
    return number


@query("""
    update image set upload_until = greatest(upload_until, $3)
    where upload_hash = $1 and created > $2 and status = 'pending_upload' and not deleting
    returning number, account_id, created, created_by
    """)
async def begin(db: Queries, hash_: bytes, after: datetime, until: datetime) -> Pending | None:
    """The image whose data begin to come; it is not canceled before `until`.

    None for one that was made before `after`, or waits for no data.
    """


@query("""
    select number from image
    where status = 'pending_upload' and not deleting and upload_until <= $1
    order by upload_until limit $2
    """)
async def due(db: Queries, now: datetime, limit: int) -> list[int]:
    """Numbers of those that are to be canceled."""


@query("select exists (select from image where number = $1 and upload_until <= $2)")
async def is_due(db: Queries, number: int, now: datetime) -> bool: ...


@query("select number from image where number = any($1::bigint[]) and status <> 'available'")
async def unfinished(db: Queries, numbers: set[int]) -> set[int]:
    """Those of the numbers whose data are still needed."""


@query("""
    update image set status = 'creating', upload_hash = null, upload_until = null
    where number = $1
    """)
async def set_creating(db: Queries, number: int) -> None:
    """From now on its URL takes nothing."""
