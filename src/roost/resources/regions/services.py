"""What regions offer: the services that an account can use, and where."""

from collections.abc import Collection

from roost.core.catalog.entries import Capability
from roost.store.paging import Listing

_SERVED_BY: dict[Capability, str] = {
    "Backups": "/compute/instances/{}/backups",
    "Block Storage": "/volumes",
    "Block Storage Migrations": "/volumes/{}/migrate",
    "Cloud Firewall": "/networking/firewalls",
    "Computes": "/compute/instances",
    "GPU Computes": "/compute/instances",
    "Kubernetes": "/lke/clusters",
    "Managed Databases": "/databases/instances",
    "Metadata": "/compute/instances",
    "NodeBalancers": "/nodebalancers",
    "Object Storage": "/object-storage/buckets",
    "Premium Plans": "/compute/instances",
    "StackScripts": "/compute/stackscripts",
    "VPCs": "/vpcs",
    "Vlans": "/compute/instances/{}/configs/{}/interfaces",
}
"""The collection without which a service is none."""


def served(paths: Collection[str]) -> frozenset[Capability]:
    """The services of an API that has these paths, parameters of which are `{}`."""
    return frozenset(word for word, path in _SERVED_BY.items() if path in paths)


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
