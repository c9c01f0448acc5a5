"""Scopes in the words of the consent page."""

from dataclasses import dataclass

from roost.core.scopes import Scopes

_NAMES = {
    "account": "Account: users, contact data, payments, tickets, tags and OAuth clients",
    "child_account": "Child accounts",
    "computes": "Compute instances",
    "databases": "Managed databases",
    "domains": "Domains and their records",
    "events": "Events",
    "firewall": "Firewalls",
    "images": "Images",
    "ips": "IP addresses",
    "lke": "Kubernetes clusters",
    "longview": "Longview clients",
    "nodebalancers": "NodeBalancers",
    "object_storage": "Object storage: buckets and their keys",
    "stackscripts": "StackScripts",
    "volumes": "Volumes",
    "vpc": "Virtual private clouds",
}


@dataclass(frozen=True, slots=True)
class Permission:
    """One line of the consent page."""

    what: str
    writes: bool


def permissions(scopes: Scopes) -> list[Permission]:
    """What the scopes allow, the most consequential first."""
    if scopes.text == "*":
        return [Permission("Everything in your account", writes=True)]
    found = [Permission(_NAMES[area], writes=rank > 1) for area, rank in scopes.ranks]
    return sorted(found, key=lambda each: (not each.writes, each.what))
