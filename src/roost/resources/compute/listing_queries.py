"""The SQL of lists of instances of all accounts, for the operator."""

from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which instances; what is None does not matter."""

    account_id: int | None = None
    region: str | None = None
    status: str | None = None
    label: str | None = None
    """A part of it, whatever its case."""
    compute_id: int | None = None
    limit: int


@dataclass(frozen=True, slots=True)
class ListedInstance:
    """An instance as its rows say."""

    id: int
    account_id: int
    label: str
    region: str
    type: str
    image: str | None
    status: str
    engine: str | None
    """The name of the engine that holds its guest."""
    host: str
    ipv4: tuple[str, ...]
    ipv6: str | None
    memory: int
    """MB"""
    vcpus: int
    created: datetime


async def list_instances(db: Queries, wanted: Wanted) -> list[ListedInstance]:
    """By id."""
    records = await db.fetch(
        """
        select id, account_id, label, region, type, image, status, engine, host, ipv4, ipv6, memory,
            vcpus, created
        from compute_instance
        where ($1::bigint is null or account_id = $1) and ($2::text is null or region = $2)
            and ($3::text is null or status = $3)
            and ($4::text is null or strpos(lower(label), lower($4)) > 0)
            and ($5::bigint is null or id = $5)
        order by id limit $6
        """,
        wanted.account_id,
        wanted.region,
        wanted.status,
        wanted.label,
        wanted.compute_id,
        wanted.limit,
    )
    return [ListedInstance(**{**dict(row), "ipv4": tuple(row["ipv4"])}) for row in records]


@dataclass(frozen=True, slots=True)
class ListedDisk:
    id: int
    label: str
    size: int
    """MB"""
    filesystem: str
    status: str


async def list_disks(db: Queries, compute_id: int) -> list[ListedDisk]:
    records = await db.fetch(
        """
        select id, label, size, filesystem, status from compute_disk
        where compute_id = $1 order by id
        """,
        compute_id,
    )
    return [ListedDisk(**dict(record)) for record in records]
