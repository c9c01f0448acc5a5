"""The rules of addresses as pure functions (spec B networking)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address

from roost.resources.addresses.queries import AddressRow
from roost.web.fields import refuse

MAX_AT_ONCE = 100
"""Addresses that one request assigns or shares."""

MAX_PRIVATE = 1
"""Of an instance (spec B networking 2)."""

NO_PUBLIC = "An instance must keep at least one public IPv4 address"
MANY_PRIVATE = "An instance can have one private IPv4 address at most"
NATTED = "An address with a 1:1 NAT to an interface of a VPC is not shared"
SHARED = "A shared address cannot be assigned or deleted; end its sharing first"


def max_public(vcpus: int) -> int:
    """How many public IPv4 addresses an instance of a plan may have."""
    return 2 + 2 * vcpus


def check_ipv4(text: str) -> str:
    """An IPv4 address as `192.0.2.1`; raises what a validator may."""
    try:
        return str(IPv4Address(text))
    except ValueError:
        raise refuse("Must be an IPv4 address") from None


@dataclass(frozen=True, slots=True)
class Holding:
    """An instance and the addresses that it has when all is done."""

    vcpus: int
    addresses: tuple[AddressRow, ...]


def objection(holding: Holding) -> str | None:
    """Why an instance cannot have these addresses (spec B networking 2)."""
    public = sum(each.public for each in holding.addresses)
    if public == 0:
        return NO_PUBLIC
    if len(holding.addresses) - public > MAX_PRIVATE:
        return MANY_PRIVATE
    if public > max_public(holding.vcpus):
        return f"An instance of this plan can have {max_public(holding.vcpus)} public addresses"
    return None


def moved(
    held: Mapping[int, Iterable[AddressRow]], targets: Mapping[str, int]
) -> dict[int, list[AddressRow]]:
    """What instances have when addresses have gone to others."""
    found: dict[int, list[AddressRow]] = {compute_id: [] for compute_id in held}
    for compute_id, rows in held.items():
        for row in rows:
            found[targets.get(row.address, compute_id)].append(row)
    return found
