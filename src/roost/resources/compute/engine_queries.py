"""SQL of the regions in which instances are, and of the engines that hold them."""

# ruff: noqa: S608  (statements are put together from constants)

from dataclasses import dataclass

from roost.core.grant_queries import granted_sql
from roost.store import Queries


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


@dataclass(frozen=True, slots=True)
class Promised:
    """Instances of a region with one status, and what their plans give them."""

    region: str
    status: str
    instances: int
    memory: int
    """Bytes"""


async def promised(db: Queries) -> list[Promised]:
    rows = await db.fetch(
        """
        select region, status, count(*) as instances, sum(memory)::bigint << 20 as memory
        from compute_instance group by region, status
        """
    )
    return [Promised(**row) for row in rows]


async def promised_disk(db: Queries) -> dict[str, int]:
    """Bytes of all disks by region."""
    rows = await db.fetch(
        """
        select i.region, sum(d.size)::bigint << 20 as size
        from compute_disk d join compute_instance i on i.id = d.compute_id group by i.region
        """
    )
    return {row["region"]: row["size"] for row in rows}


async def regions_of(db: Queries, account_id: int, grantee: int | None) -> list[str]:
    """Where an account has instances, of which a `grantee` only knows those granted to them."""
    rows = await db.fetch(
        f"""
        select distinct region from compute_instance i
        where i.account_id = $1 and {granted_sql("'compute'", "i.id", "$2")}
        """,
        account_id,
        grantee,
    )
    return [row["region"] for row in rows]
