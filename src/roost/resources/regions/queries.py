"""SQL of regions."""

from dataclasses import replace

from roost.core.lists import listing_of
from roost.errors import not_found
from roost.resources.regions.records import RegionRow
from roost.store import Queries
from roost.store.paging import Column, Listing

REGIONS = listing_of(
    RegionRow,
    source="region r",
    scope="not r.retired",
    key="r.id",
    sql={
        "resolvers": """
            (select row_to_json(resolvers) from (
                select r.resolvers_ipv4 as ipv4, r.resolvers_ipv6 as ipv6) resolvers)
            """,
    },
)
EVERY_REGION = replace(REGIONS, scope="true")
"""With those that the catalogue no longer has: their instances still name them."""

AVAILABILITY = Listing(
    record="a.region, a.plan, a.available",
    source="region_availability a",
    scope="true",
    key="(a.region, a.plan)",
    columns={
        "region": Column("a.region", "text"),
        "plan": Column("a.plan", "text"),
        "available": Column("a.available", "bool"),
    },
)


async def availability_of(db: Queries, region_id: str) -> str:
    """A JSON array, not a page (reference: operations); ApiError 404 for an unknown region."""
    found = await db.fetchval(
        """
        select coalesce(
            (select json_agg(row_to_json(a) order by a.plan) from (
                select region, plan, available from region_availability where region = r.id) a),
            '[]')::text
        from region r where r.id = $1
        """,
        region_id,
    )
    if found is None:
        raise not_found()
    return str(found)
