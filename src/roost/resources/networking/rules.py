"""The rules of addresses as pure functions (spec B networking)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import TypeVar

from roost.core.addresses.queries import AddressRow
from roost.web.fields import WHOLE, refuse

T = TypeVar("T")

MAX_AT_ONCE = 100
"""Addresses that one request assigns or shares."""

RANGE_PREFIXES = (56, 64)
"""Lengths of the prefixes of IPv6 ranges."""

MAX_PRIVATE = 1
"""Of an instance (spec B networking 2)."""

NO_PUBLIC = "An instance must keep at least one public IPv4 address"
MANY_PRIVATE = "An instance can have one private IPv4 address at most"


def max_public(vcpus: int) -> int:
    """How many public IPv4 addresses an instance of a plan may have."""
    return 2 + 2 * vcpus


def is_ipv4(address: str) -> bool:
    """Whether an address, which was checked, is one of IPv4."""
    return ":" not in address


def check_type(value: object) -> object:
    """Check the type of a new address; other types exist, but are not allocated."""
    if isinstance(value, str) and value != "ipv4":
        raise refuse("Only addresses of type ipv4 are currently supported.", WHOLE)
    return value


def check_assigned(text: str) -> str:
    """An IPv4 address, or an IPv6 range with its prefix length."""
    found = _parsed(IPv4Address, text) or _parsed(IPv6Network, text)
    if isinstance(found, IPv6Network) and found.prefixlen not in RANGE_PREFIXES:
        found = None
    if found is None:
        raise refuse("Must be an IPv4 address, or an IPv6 range with /56 or /64")
    return str(found)


def check_shared(text: str) -> str:
    """An IPv4 address, or an IPv6 range without its prefix length."""
    found = _parsed(IPv4Address, text) or _parsed(IPv6Address, text)
    if found is None:
        raise refuse("Must be an IPv4 address or an IPv6 range without prefix length")
    return str(found)


def check_ipv6(text: str) -> str:
    """An IPv6 address without prefix length."""
    found = _parsed(IPv6Address, text)
    if found is None:
        raise refuse("Must be an IPv6 address")
    return str(found)


def _parsed(kind: Callable[[str], T], text: str) -> T | None:
    """None for anything else, and for an address with a zone."""
    try:
        return None if "%" in text else kind(text)
    except ValueError:
        return None


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
