"""The rules of addresses as pure functions (spec B networking)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from roost.resources.addresses.queries import AddressRow
from roost.web.fields import refuse

MAX_AT_ONCE = 100
"""Addresses that one request assigns or shares."""

RANGE_PREFIXES = (56, 64)
"""Lengths of the prefixes of IPv6 ranges."""

MAX_PRIVATE = 1
"""Of an instance (spec B networking 2)."""

NO_PUBLIC = "An instance must keep at least one public IPv4 address"
MANY_PRIVATE = "An instance can have one private IPv4 address at most"
NATTED = "An address with a 1:1 NAT to an interface of a VPC is not shared"
SHARED = "A shared address cannot be assigned or deleted; end its sharing first"


def max_public(vcpus: int) -> int:
    """How many public IPv4 addresses an instance of a plan may have."""
    return 2 + 2 * vcpus


def is_ipv4(address: str) -> bool:
    """Of what was checked."""
    return ":" not in address


def check_assigned(text: str) -> str:
    """An IPv4 address, or an IPv6 range with its prefix length."""
    try:
        return str(IPv4Address(text))
    except ValueError:
        return str(_range(text))


def check_shared(text: str) -> str:
    """An IPv4 address, or an IPv6 range without its prefix length."""
    try:
        return str(IPv4Address(text))
    except ValueError:
        pass
    try:
        return str(IPv6Address(text))
    except ValueError:
        raise refuse("Must be an IPv4 address or an IPv6 range without prefix length") from None


def _range(text: str) -> IPv6Network:
    try:
        network = IPv6Network(text) if "/" in text else None
    except ValueError:
        network = None
    if network is None or network.prefixlen not in RANGE_PREFIXES:
        raise refuse("Must be an IPv4 address, or an IPv6 range with /56 or /64")
    return network


def check_ipv6(text: str) -> str:
    """An IPv6 address without zone and prefix length."""
    try:
        return str(IPv6Address(text)) if "%" not in text else _no_ipv6()
    except ValueError:
        return _no_ipv6()


def _no_ipv6() -> str:
    raise refuse("Must be an IPv6 address")


def first_free(pool: IPv6Network, prefix: int, taken: Iterable[IPv6Network]) -> IPv6Network | None:
    """The lowest network of this size in the pool that overlaps nothing that is taken."""
    size, end = 1 << (128 - prefix), int(pool.broadcast_address) + 1
    start = int(pool.network_address)
    for network in sorted(taken):
        if start + size <= int(network.network_address):
            break
        after = int(network.broadcast_address) + 1
        start = max(start, -(-after // size) * size)
    return None if start + size > end else IPv6Network((start, prefix))


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
