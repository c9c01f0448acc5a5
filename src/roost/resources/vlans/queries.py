"""SQL of VLANs."""

from roost.core.grant_queries import granted_sql
from roost.core.lists import listing_of
from roost.resources.vlans.records import VlanRow
from roost.store import Queries
from roost.store.query import query

_ATTACHED = f"""
    select distinct i.id from compute_interface f
    join compute_config c on c.id = f.config_id join compute_instance i on i.id = c.compute_id
    where f.vlan_id = v.id and {granted_sql("'compute'", "i.id", "$2")}
    """  # noqa: S608 - constants

VLANS = listing_of(
    VlanRow,
    source="vlan v",
    scope=f"v.account_id = $1 and exists ({_ATTACHED})",
    key="v.id",
    sql={
        "computes": f"array({_ATTACHED} order by 1)",
    },
)
"""Scope: the account, and the user who needs grants on instances."""


@query("""
    select exists (
        select from compute_instance i
        join compute_config c on c.compute_id = i.id
        join compute_interface f on f.config_id = c.id
        where i.account_id = $1 and i.region = $2 and f.purpose = 'vlan' and f.label = $3)
    """)
async def is_attached(db: Queries, account_id: int, region: str, label: str) -> bool:
    """Whether a config of the account's instances has an interface to it."""
