"""SQL of the names of managed databases."""

from dataclasses import dataclass

from roost.resources.databases.engine import KindName
from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A database that has names."""

    id: int
    kind: KindName
    region: str
    cluster_size: int
    primary: str | None
    """What clients are told; None of one that is being made."""


@dataclass(frozen=True, slots=True)
class ZoneRow:
    """A zone as the name server was told of it last."""

    zone: str
    digest: str
    serial: int


@query("""
    select id, kind, region, cluster_size, host_primary as primary from managed_database
    where not deleting and (made or status = 'provisioning') order by id
    """)
async def named(db: Queries) -> list[NamedRow]:
    """All that are there, or soon."""


async def zones(db: Queries) -> dict[str, ZoneRow]:
    """That of the databases, and those that were theirs before."""
    rows = await db.fetch("select zone, digest, serial from database_zone")
    return {row["zone"]: ZoneRow(**row) for row in rows}


async def keep_zone(db: Queries, row: ZoneRow) -> None:
    await db.execute(
        """
        insert into database_zone (zone, digest, serial) values ($1, $2, $3)
        on conflict (zone) do update set digest = excluded.digest, serial = excluded.serial
        """,
        row.zone,
        row.digest,
        row.serial,
    )


@query("delete from database_zone where zone = $1")
async def forget_zone(db: Queries, zone: str) -> None: ...
