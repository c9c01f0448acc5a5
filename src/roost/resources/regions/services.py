"""SQL of what regions offer: the services that an account can use, and where."""

from roost.store.paging import Listing

CAPABILITIES = """array(
    select distinct capability from region, unnest(capabilities) as capability
    where not retired order by 1)"""
"""All services of all regions, as an SQL expression."""

_RECORD = f"""
    r.id as region,
    array(select service from unnest(r.capabilities) as service order by 1) as available,
    array(select service from unnest({CAPABILITIES}) as service
        where service <> all(r.capabilities) order by 1) as unavailable
    """  # noqa: S608 - constants

SERVICES = Listing(
    record=_RECORD,
    source="region r",
    scope="not r.retired",
    key="r.id",
    columns={},
)
