"""What holds for VPCs, their subnets and the addresses in them (reference: VPC subnet)."""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError

from roost.web.fields import refuse

MAX_SUBNETS = 10
"""Of a VPC."""
LABEL_PATTERN = r"(?!.*--)[A-Za-z0-9-]+"
LABEL_REASON = "Must only use ASCII letters, numbers, and dashes, no two dashes in a row"
SUBNET_LABEL_TAKEN = "Label must be unique among the subnets of the VPC"
OVERLAPS = "Must not overlap {}"
OUTSIDE = "Must be an address of the subnet {}, but not of its first two or last two"
TAKEN = "{} is in use"
LEAVING = "{} is in use until its Compute, which is being deleted, is gone"

NETWORK_REASON = "Must be an IPv4 network"
_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_RESERVED = IPv4Network("192.168.128.0/17")
"""Private addresses of instances."""
_LONGEST = 29
_EDGE = 2
"""How many addresses at either end of a subnet are nobody's."""


def parse_network(text: str) -> IPv4Network:
    """In its canonical form only; raises what a validator may."""
    try:
        network = IPv4Network(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        raise refuse(NETWORK_REASON) from None
    if str(network) != text:
        raise refuse(NETWORK_REASON)
    if not any(network.subnet_of(each) for each in _PRIVATE):
        raise refuse("Must be in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16")
    if network.overlaps(_RESERVED):
        raise refuse(OVERLAPS.format(_RESERVED))
    return network


def check_subnet(text: str) -> str:
    network = parse_network(text)
    if network.prefixlen > _LONGEST:
        raise refuse(f"Must have a prefix length of 1-{_LONGEST}")
    return text


def overlapping(network: IPv4Network, others: Iterable[IPv4Network]) -> IPv4Network | None:
    """The first of the others that has an address of the network."""
    return next((other for other in others if network.overlaps(other)), None)


def is_usable(address: IPv4Address, subnet: IPv4Network) -> bool:
    """Whether a guest may have it (spec B interface ipv4 vpc)."""
    first, last = int(subnet.network_address), int(subnet.broadcast_address)
    return first + _EDGE <= int(address) <= last - _EDGE


def first_free(subnet: IPv4Network, taken: Sequence[IPv4Network]) -> IPv4Address | None:
    """The lowest address that a guest may have and that is in none of the taken networks."""
    last = int(subnet.broadcast_address) - _EDGE
    candidate = int(subnet.network_address) + _EDGE
    for start, end in _spans(taken):
        if start > candidate:
            break
        candidate = max(candidate, end + 1)
    return IPv4Address(candidate) if candidate <= last else None


def _spans(networks: Sequence[IPv4Network]) -> Iterator[tuple[int, int]]:
    for network in sorted(networks):
        yield int(network.network_address), int(network.broadcast_address)


def range_problem(
    network: IPv4Network, subnet: IPv4Network, subnets: Iterable[IPv4Network]
) -> str | None:
    """Why a network cannot be routed to an interface in a subnet: it is a part of that, without
    the ends, or has nothing to do with any subnet of the VPC."""
    if network.subnet_of(subnet):
        ends = network.network_address, network.broadcast_address
        if all(is_usable(end, subnet) for end in ends):
            return None
        return f"Must not have addresses of the first two or last two of {subnet}"
    other = overlapping(network, subnets)
    return None if other is None else OVERLAPS.format(other)
