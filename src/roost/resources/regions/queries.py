"""SQL of regions."""

from dataclasses import replace

from roost.errors import not_found
from roost.store import Queries
from roost.store.paging import Column, Listing

REGIONS = Listing(
    record="""json_build_object(
        'id', r.id, 'label', r.label, 'country', r.country, 'capabilities', r.capabilities,
        'status', r.status,
        'resolvers', json_build_object('ipv4', r.resolvers_ipv4, 'ipv6', r.resolvers_ipv6))""",
    source="region r",
    scope="not r.retired",
    key="r.id",
    columns={},
)
EVERY_REGION = replace(REGIONS, scope="true")
"""With those that the catalogue no longer has: their instances still name them."""

AVAILABILITY = Listing(
    record="json_build_object('region', a.region, 'plan', a.plan, 'available', a.available)",
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
            (select json_agg(
                json_build_object('region', a.region, 'plan', a.plan, 'available', a.available)
                order by a.plan)
            from region_availability a where a.region = r.id), '[]')::text
        from region r where r.id = $1
        """,
        region_id,
    )
    if found is None:
        raise not_found()
    return str(found)
