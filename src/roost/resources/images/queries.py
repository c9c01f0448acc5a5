"""SQL of images."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from roost.core.billing.ledger import Billable, record
from roost.core.billing.ledger_queries import price_sql
from roost.core.catalog.entries import ImageEntry
from roost.core.entities.kind import ResourceKind
from roost.core.grant_queries import granted_sql
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.images.records import ImageRow, ImageStatus
from roost.store import Queries
from roost.store.paging import Column
from roost.store.query import query
from roost.store.statement import Statement, selected

_OPERATOR = "operator"
"""`created_by` of imported images; those of the catalogue have its own.

A user may have the same name, but no user's image is public.
"""

_OWN = f"""
    i.account_id = $1::bigint and not i.deleting and {granted_sql("'image'", "i.number", "$2")}
    """

IMAGES = listing_of(
    ImageRow,
    source="image i",
    scope=f"not i.retired and (i.account_id is null or {_OWN})",
    key="i.id",
    sql={
        "is_public": "i.account_id is null",
    },
    columns={
        "is_public": Column("(i.account_id is null)", "bool"),
    },
)
"""Scope: the account of the caller, None without a token; and the user who needs a grant."""

EVERY_IMAGE = replace(IMAGES, scope=f"i.account_id is null or {_OWN}")
"""With public images that the catalogue no longer has: instances still name them."""


async def put_imported(db: Queries, image_id: str, label: str, size: int, now: datetime) -> None:
    """Insert or replace a public image of cloud-init that is not in the catalogue."""
    await db.execute(
        """
        insert into image (id, label, created, updated, created_by, size, type, status,
            capabilities)
        values ($1, $2, $3, $3, $4, $5, 'manual', 'available', '{cloud-init}')
        on conflict (id) do update set label = excluded.label, updated = excluded.updated,
            created_by = excluded.created_by, size = excluded.size, retired = false
        """,
        image_id,
        label,
        now.replace(microsecond=0),
        _OPERATOR,
        size,
    )


async def list_imported(db: Queries) -> list[ImageEntry]:
    rows = await db.fetch(
        """
        select id, label, coalesce(vendor, label) as vendor, size, created, capabilities
        from image where created_by = $1 and account_id is null
        """,
        _OPERATOR,
    )
    return [ImageEntry(**row) for row in rows]


IMAGE = ResourceKind(
    name="image",
    path="/images/private/{id}",
    listing=replace(
        IMAGES,
        scope="i.account_id = $1 and not i.deleting",
        key="i.number",
        granted=("'image'", "i.number"),
    ),
    label="i.label",
)
"""Private ones, by their numbers: what grants are given on. Events have `image_entity`."""

LIMIT = LimitGroup.of(
    "image where account_id = $1 and type = 'manual' and not deleting",
    LimitKind("images", "images", 25),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewImage:
    """A row to insert, of a private image that is about to be made."""

    account_id: int
    created_by: str
    label: str
    description: str
    region: str
    engine: str
    compute_id: int
    capabilities: list[str]
    now: datetime
    type: Literal["manual", "automatic"] = "manual"
    expiry: datetime | None = None


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What jobs and rules need of a private image's row."""

    id: str
    number: int
    account_id: int
    label: str
    description: str | None
    status: ImageStatus
    size: int
    """MB"""
    region: str
    """Whose engine has made it."""
    engine: str
    """The name of that engine."""
    compute_id: int | None
    """The instance of whose disk it is being made."""
    capabilities: list[str]
    created: datetime
    deleting: bool
    version: int
    """Another one after each change of the row."""


_COLUMNS = selected(ImageFacts, version="xmin")

_INSERT = Statement(
    """
    insert into image (id, number, account_id, label, description, created, updated, created_by,
        size, type, expiry, status, capabilities, region, engine, compute_id)
    select 'private/' || n, n, :account_id, :label, :description, :now, :now, :created_by,
        0, :type, :expiry, 'creating', :capabilities, :region, :engine, :compute_id
    from nextval('image_number') n returning number
    """
)


async def insert(db: Queries, new: NewImage) -> int:
    """The image's number."""
    row = await db.fetchrow(*_INSERT.of(new))
    assert row is not None
    number: int = row["number"]
    return number


@query(f"select {_COLUMNS} from image where number = $1")
async def find(db: Queries, number: int) -> ImageFacts | None:
    """Whoever has it, also one that is being deleted."""


@query(f"select {_COLUMNS} from image where number = $1 for update")
async def lock(db: Queries, number: int) -> ImageFacts | None:
    """Any account's image, which nobody else changes until the end of the transaction."""


@query(f"""
    select {_COLUMNS} from image
    where compute_id = $1 and status = 'creating' and type = 'manual' and not deleting
    order by number for update
    """)
async def lock_unmade(db: Queries, compute_id: int) -> list[ImageFacts]:
    """What jobs of an instance make of its disks."""


@query(f"""
    select {_COLUMNS} from image
    where account_id = $1 and number = any($2::bigint[]) and not deleting
    """)
async def of_account(db: Queries, account_id: int, numbers: Collection[int]) -> list[ImageFacts]:
    """Those that an account has, and is not deleting."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a private image that is there has been since it was begun, at the latest."""

    size: int
    """MB"""
    began: datetime
    ended: datetime
    """When the row has changed for the last time: it was whole by then."""


async def made(db: Queries, numbers: Collection[int], engines: Collection[str]) -> dict[int, Made]:
    """By number, of those that these engines have made."""
    rows = await db.fetch(
        """
        select number, size, created, updated from image
        where number = any($1::bigint[]) and status = 'available' and engine = any($2)
        """,
        list(numbers),
        list(engines),
    )
    return {row["number"]: Made(row["size"], row["created"], row["updated"]) for row in rows}


@query("select exists (select from image where id = $1 and account_id is null)")
async def is_public(db: Queries, image_id: str) -> bool: ...


@query(f"select {_COLUMNS} from image where region = $1 and number > $2 order by number limit $3")
async def in_region(db: Queries, region: str, after: int, limit: int) -> list[ImageFacts]:
    """A page of what the engine of a region has made, by number."""


async def engines_in_use(db: Queries) -> list[tuple[str, str]]:
    """Regions and the names of the engines that hold images of theirs."""
    rows = await db.fetch(
        """
        select distinct region, engine from image where number is not null
        order by region, engine
        """
    )
    return [(row["region"], row["engine"]) for row in rows]


async def update(db: Queries, number: int, label: str, description: str, now: datetime) -> None:
    await db.execute(
        "update image set label = $2, description = $3, updated = $4 where number = $1",
        number,
        label,
        description,
        now.replace(microsecond=0),
    )


async def set_available(db: Queries, number: int, size: int, now: datetime) -> None:
    """It is whole, for disks of `size` MB or more, and charged for."""
    await db.execute(
        """
        update image set status = 'available', size = $2, updated = $3, compute_id = null
        where number = $1
        """,
        number,
        size,
        now.replace(microsecond=0),
    )
    await charge(db, number, now)


async def set_deleting(db: Queries, number: int, now: datetime, *, deleting: bool) -> None:
    """Whether it is shown to nobody, and costs nothing."""
    await db.execute("update image set deleting = $2 where number = $1", number, deleting)
    await charge(db, number, now)


@query("delete from image where number = $1")
async def delete(db: Queries, number: int) -> None:
    """Grants on it go with the row."""


CHARGED = Billable(
    "image",
    "Images",
    f"""
    select i.id, i.account_id, 'private images' as label, '' as plan, '' as region,
        i.size - p.free as quantity, {price_sql("p.price", "p.region_prices", "''")},
        '{{}}'::text[] as tags
    from (
        select account_id as id, account_id, (sum(size) / 1024)::integer as size from image
        where account_id is not null and status = 'available' and not deleting
            and expiry is null
        group by account_id) i
        join unit_price p on p.service = 'image'
    where i.size > p.free
    """,
)
"""The GiB of all private images of an account beyond those that are free; its id is the account's.
Those that are kept of deleted instances cost nothing until they expire.
"""


async def charge(db: Queries, number: int, now: datetime) -> None:
    """Charge the account of an image for all that it has from now on (UTC)."""
    account_id = await db.fetchval("select account_id from image where number = $1", number)
    await record(db, CHARGED, account_id, now)


HELD = "select id, account_id, deleting as waits from image where account_id is not null"
"""What ends with accounts."""


@query("""
    select count(*) from image
    where account_id = $1 and type = 'automatic' and not deleting
    """)
async def count(db: Queries, account_id: int) -> int: ...


async def capabilities(db: Queries, image_id: str | None) -> list[str]:
    """The capabilities of the image that a disk began as; none when that is gone."""
    found: list[str] | None = await db.fetchval(
        "select capabilities from image where id = $1", image_id
    )
    return found or []


@query("""
    select number from image
    where expiry <= $1 and number is not null and status = 'available' and not deleting
    order by expiry limit $2
    """)
async def due(db: Queries, now: datetime, limit: int) -> list[int]:
    """Numbers of those that have expired."""


@query("select exists (select from image where number = $1 and expiry <= $2)")
async def is_due(db: Queries, number: int, now: datetime) -> bool: ...
