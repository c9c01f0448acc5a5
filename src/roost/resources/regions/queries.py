"""SQL of regions."""

from dataclasses import dataclass, replace

from roost.errors import not_found
from roost.store import Queries
from roost.store.paging import Column, Listing

REGIONS = Listing(
    record="""
        r.id, r.label, r.country, r.capabilities, r.status, r.site_type,
        (select row_to_json(resolvers) from (
            select r.resolvers_ipv4 as ipv4, r.resolvers_ipv6 as ipv6) resolvers) as resolvers
        """,
    source="region r",
    scope="not r.retired",
    key="r.id",
    columns={
        "country": Column("r.country", "text"),
        "site_type": Column("r.site_type", "text"),
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


@dataclass(frozen=True, slots=True)
class Outage:
    id: str
    label: str


async def in_outage(db: Queries, region_ids: list[str]) -> list[Outage]:
    """Those of some regions that do not work at present."""
    rows = await db.fetch(
        "select id, label from region where id = any($1) and status = 'outage' order by id",
        region_ids,
    )
    return [Outage(**row) for row in rows]


CAPABILITIES = """array(
    select distinct capability from region, unnest(capabilities) as capability
    where not retired order by 1)"""
"""All services of all regions, as an SQL expression."""

_ACCOUNT_SERVICES = "unnest(array['Block Storage', 'Computes', 'Kubernetes', 'NodeBalancers'])"

_RECORD = f"""
    r.id as region,
    array(select service from {_ACCOUNT_SERVICES} as service
        where service = any(r.capabilities)) as available,
    array(select service from {_ACCOUNT_SERVICES} as service
        where service <> all(r.capabilities)) as unavailable
    """  # noqa: S608 - constants

SERVICES = Listing(
    record=_RECORD,
    source="region r",
    scope="not r.retired",
    key="r.id",
    columns={},
)
