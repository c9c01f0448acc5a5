"""Which engines hold the volumes of regions."""

from roost.store import Queries


async def engines_in_use(db: Queries) -> list[tuple[str, str]]:
    """Regions and the names of the engines that hold volumes of theirs."""
    rows = await db.fetch("select distinct region, engine from volume order by region, engine")
    return [(row["region"], row["engine"]) for row in rows]


async def promised_disk(db: Queries) -> dict[str, int]:
    """Bytes of all volumes by region."""
    rows = await db.fetch(
        "select region, sum(size)::bigint << 30 as size from volume group by region"
    )
    return {row["region"]: row["size"] for row in rows}
