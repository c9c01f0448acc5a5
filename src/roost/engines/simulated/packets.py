"""Whom packets would reach between simulated guests, in public and in VPCs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from roost.engines.simulated.segments import Port
from roost.engines.simulated.shelves import Guest
from roost.resources.compute.network_engine import PublicLink, VpcLink


@dataclass(frozen=True, slots=True)
class Arrival:
    """A packet at a guest's interface."""

    port: Port
    source: str
    """Where it seems to come from."""


def arrival(guests: Iterable[Guest], sender: Port, source: str, target: str) -> Arrival | None:
    """What becomes of an IPv4 packet; None when nobody gets it. Whoever gets it can answer."""
    running = [guest for guest in guests if guest.started is not None]
    vpcs, public = dict(_in_vpcs(running)), dict(_in_public(running))
    if sender in vpcs:
        return _from_vpc(vpcs, public, sender, source, target)
    if source not in public.get(sender, ()):
        return None
    reached = _outside(vpcs, public, target)
    return None if reached is None else Arrival(reached, source)


def _in_vpcs(guests: Iterable[Guest]) -> Iterator[tuple[Port, VpcLink]]:
    for guest in guests:
        for number, link in enumerate(guest.links):
            if isinstance(link, VpcLink):
                yield Port(guest.id, number), link


def _in_public(guests: Iterable[Guest]) -> Iterator[tuple[Port, tuple[str, ...]]]:
    for guest in guests:
        for number, link in enumerate(guest.links):
            if isinstance(link, PublicLink):
                yield Port(guest.id, number), guest.ipv4


def _from_vpc(
    vpcs: dict[Port, VpcLink],
    public: dict[Port, tuple[str, ...]],
    sender: Port,
    source: str,
    target: str,
) -> Arrival | None:
    own = vpcs[sender]
    if not _is_of(own, source):
        return None
    for port, link in vpcs.items():
        inside = link.vpc_id == own.vpc_id
        if inside and (_is_of(link, target) or str(link.public) == target):
            return Arrival(port, source)
    if own.public is None or source != str(own.interface.ip):
        return None
    reached = _outside(vpcs, public, target)
    return None if reached is None else Arrival(reached, str(own.public))


def _outside(
    vpcs: dict[Port, VpcLink], public: dict[Port, tuple[str, ...]], target: str
) -> Port | None:
    natted = {str(link.public): port for port, link in vpcs.items() if link.public is not None}
    held = {address: port for port, addresses in public.items() for address in addresses}
    return natted.get(target) or held.get(target)


def _is_of(link: VpcLink, address: str) -> bool:
    value = IPv4Address(address)
    return value == link.interface.ip or any(value in network for network in link.ranges)
