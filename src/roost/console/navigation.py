"""The way through the console: groups of pages, as everybody looks for them."""

from collections.abc import Mapping, Sequence

NAVIGATION: Mapping[str, Sequence[tuple[str, str]]] = {
    "Compute": (
        ("Instances", "/compute/instances"),
        ("Volumes", "/volumes"),
        ("Images", "/images"),
        ("StackScripts", "/compute/stackscripts"),
        ("Plans", "/compute/types"),
    ),
    "Network": (
        ("Firewalls", "/networking/firewalls"),
        ("NodeBalancers", "/nodebalancers"),
        ("VPCs", "/vpcs"),
        ("VLANs", "/networking/vlans"),
        ("Addresses", "/networking/ips"),
        ("IPv6 ranges", "/networking/ipv6/ranges"),
        ("Domains", "/domains"),
    ),
    "Data": (
        ("MySQL", "/databases/mysql/instances"),
        ("PostgreSQL", "/databases/postgresql/instances"),
        ("Buckets", "/object-storage/buckets"),
        ("Object keys", "/object-storage/keys"),
    ),
    "Account": (
        ("Activity", "/account/events"),
        ("Bill", "/account/estimate"),
        ("Account", "/account"),
        ("Users", "/account/users"),
        ("Tags", "/tags"),
        ("Support", "/support/tickets"),
        ("My profile", "/profile"),
    ),
}
"""Titles and paths below `/console`. All else is found from the index of pages."""


def section_of(url: str, prefix: str) -> str | None:
    """The path of the entry that a page belongs to; None for one that belongs to none."""
    for entries in NAVIGATION.values():
        for _, path in entries:
            if url == prefix + path or (path != "/account" and url.startswith(f"{prefix}{path}/")):
                return path
    return None
