"""Which services an API offers."""

from collections.abc import Collection

from roost.core.catalog.entries import Capability

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
