"""What an address does beside being its instance's, and what it can then not become.

Who moves or frees an address, shares it or puts a 1:1 NAT on it asks here, while the row of the
instance that has it is locked (spec B networking 2, B networking 3).
"""

from collections.abc import Collection, Mapping
from typing import Literal

from roost.core.addresses.share_queries import balanced, sharers
from roost.resources.compute import address_queries
from roost.store import Queries

Change = Literal["moves", "shared", "natted"]
"""Assigned to another instance or deleted; shared with another one; the 1:1 NAT of an interface."""

SHARED: Mapping[Change, str] = {
    "moves": "A shared address cannot be assigned or deleted; end its sharing first",
    "natted": "A shared address cannot have a 1:1 NAT; end its sharing first",
}
"""Why not one that is shared already."""

NATTED: Mapping[Change, str] = {
    "moves": "An address with a 1:1 NAT to an interface of a VPC cannot be assigned or deleted;"
    " end the NAT first",
    "shared": "An address with a 1:1 NAT to an interface of a VPC is not shared",
}
"""Why not one that has such a NAT in any config of its instance."""


BALANCED = (
    "An address that is a node of a NodeBalancer cannot be assigned or deleted; delete the node"
    " first"
)


async def objections(db: Queries, change: Change, addresses: Collection[str]) -> Mapping[str, str]:
    """Why it cannot be, by address; those that can are left out."""
    found = dict[str, str]()
    if change in SHARED:
        found |= dict.fromkeys(await sharers(db, addresses), SHARED[change])
    if change in NATTED:
        found |= dict.fromkeys(await address_queries.natted(db, addresses), NATTED[change])
    if change == "moves":
        found |= dict.fromkeys(await balanced(db, addresses), BALANCED)
    return found
