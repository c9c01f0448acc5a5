"""What later revisions ask for that follows from the catalogue, and defaults of which there are
none."""

from collections.abc import Sequence
from typing import Literal

from typing_extensions import TypedDict

from roost.core.catalog import Catalog
from roost.core.catalog.entries import RegionEntry
from roost.errors import not_found
from roost.store.paging import page_of
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import Page, endpoint


class VpcAvailabilityRow(TypedDict):
    """Whether a region has VPCs."""

    region: str
    """The region."""
    available: bool
    """Whether VPCs can be made there."""
    available_ipv6_prefix_lengths: Sequence[int]
    """Lengths of the prefixes of their IPv6 networks: they have none."""


class EndpointRow(TypedDict):
    """Where S3 clients find the buckets of a region."""

    region: str
    """The region."""
    endpoint_type: Literal["E0"]
    """There is one kind of endpoint."""
    s3_endpoint: str
    """The domain of its cluster."""


class DefaultFirewallsRow(TypedDict):
    """The firewalls that new things are put behind: none."""

    compute: None
    """Instances."""
    nodebalancer: None
    """NodeBalancers."""
    public_interface: None
    """Public interfaces."""
    vpc_interface: None
    """Interfaces of VPCs."""


class FirewallSettingsRow(TypedDict):
    """What holds for all firewalls."""

    default_firewall_ids: DefaultFirewallsRow
    """Of what is made from now on."""


class DatabaseConfigRow(TypedDict):
    """What can be set of a database's engine: nothing."""


@endpoint("GET", "/regions/vpc-availability", public=True, returns=Page(VpcAvailabilityRow))
async def list_vpc_availability(call: Call) -> bytes:
    """List which regions have VPCs.

    One row for each region.
    """
    rows = [_vpcs(region) for region in call.services.get(Catalog).regions]
    return page_of(rows, call.page, call.page_size)


@endpoint("GET", "/regions/{regionId}/vpc-availability", public=True, returns=VpcAvailabilityRow)
async def view_vpc_availability(call: Call) -> VpcAvailabilityRow:
    """View whether a region has VPCs.

    The same as in its `capabilities`.
    """
    region = call.services.get(Catalog).find_region(call.text("regionId"))
    if region is None:
        raise not_found()
    return _vpcs(region)


def _vpcs(region: RegionEntry) -> VpcAvailabilityRow:
    return {
        "region": region.id,
        "available": "VPCs" in region.capabilities,
        "available_ipv6_prefix_lengths": [],
    }


@endpoint(
    "GET",
    "/object-storage/endpoints",
    scopes=("object_storage:read_only",),
    grant=AccountAccess("read_only"),
    returns=Page(EndpointRow),
)
async def list_object_storage_endpoints(call: Call) -> bytes:
    """List endpoints of object storage.

    One for each cluster.
    """
    rows = [
        EndpointRow(region=each.region, endpoint_type="E0", s3_endpoint=each.domain)
        for each in call.services.get(Catalog).entries.object_clusters
    ]
    return page_of(rows, call.page, call.page_size)


@endpoint(
    "GET",
    "/networking/firewalls/settings",
    scopes=("firewall:read_only",),
    returns=FirewallSettingsRow,
)
async def view_firewall_settings(_call: Call) -> FirewallSettingsRow:
    """View what holds for all firewalls.

    Nothing is put behind one that does not ask for it.
    """
    return {
        "default_firewall_ids": {
            "compute": None,
            "nodebalancer": None,
            "public_interface": None,
            "vpc_interface": None,
        }
    }


@endpoint(
    "GET",
    "/databases/mysql/config",
    scopes=("databases:read_only",),
    returns=DatabaseConfigRow,
)
async def view_mysql_config(_call: Call) -> DatabaseConfigRow:
    """View what can be set of MySQL's engine.

    Nothing can.
    """
    return {}


DERIVED = (
    list_vpc_availability,
    view_vpc_availability,
    list_object_storage_endpoints,
    view_firewall_settings,
    view_mysql_config,
)
