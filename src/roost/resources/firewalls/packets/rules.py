"""The way of a packet through filters and routes, as pure functions."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_network

from roost.core.entities.records import Entity
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.network_engine import MAIL_PORTS
from roost.resources.firewalls.engine import RuleSet, TransportProtocol, first_match
from roost.resources.firewalls.packets.records import (
    DecidingRuleRow,
    Direction,
    PacketStepRow,
    Stage,
)
from roost.resources.firewalls.queries import FIREWALL

_LOCAL = tuple(
    ip_network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.168.0.0/16", "224.0.0.0/3", "::/127", "fc00::/7", "fe80::/10", "ff00::/8"),
    )
)
"""Where no router leads to."""


@dataclass(frozen=True, slots=True)
class Packet:
    """The first packet of a connection."""

    source: str
    destination: str
    protocol: TransportProtocol
    port: int | None


@dataclass(frozen=True, slots=True)
class Guard:
    """A firewall that is enabled."""

    id: int
    label: str
    rules: RuleSet
    labels: dict[Direction, tuple[str | None, ...]]
    """Names of the rules, in their order."""


@dataclass(frozen=True, slots=True)
class Guest:
    """An instance of the account, at one end of the packet's way."""

    id: int
    label: str
    region: str
    status: str
    addresses: frozenset[str]
    """That it may send from; ranges with their prefix lengths."""
    mail_restricted: bool
    private: tuple[IPv4Network, ...]
    """Of its region."""
    public: tuple[IPv4Network, ...]
    firewall: Guard | None

    @property
    def entity(self) -> Entity:
        return COMPUTE.entity(self.id, self.label)


@dataclass(frozen=True, slots=True)
class Vpc:
    """Where a packet is sent."""

    label: str
    networks: tuple[IPv4Network, ...]
    """Its subnets, and what is routed to its instances besides."""
    public: str | None
    """The address by which the sender is reached outside (1:1 NAT)."""


def path(packet: Packet, sender: Guest | None, receiver: Guest | None) -> list[PacketStepRow]:
    """Who looks at it, until one drops it; None for an end that is not the account's."""
    return _until_dropped(_steps(packet, sender, receiver))


def path_in_vpc(
    packet: Packet, vpc: Vpc, sender: Guest | None, receiver: Guest | None
) -> list[PacketStepRow]:
    """The path of a packet that an instance sends in a VPC."""
    return _until_dropped(_steps_in_vpc(packet, vpc, sender, receiver))


def _until_dropped(found: Iterator[PacketStepRow]) -> list[PacketStepRow]:
    steps = list[PacketStepRow]()
    for step in found:
        steps.append(step)
        if not step["passes"]:
            break
    return steps


def _steps(packet: Packet, sender: Guest | None, receiver: Guest | None) -> Iterator[PacketStepRow]:
    yield _end("source", packet.source, sender)
    if sender is not None:
        yield from _leaving(packet, sender)
    yield _route(packet, sender, receiver)
    yield _end("destination", packet.destination, receiver)
    if receiver is not None:
        yield _filter("inbound", packet, packet.source, receiver)


def _steps_in_vpc(
    packet: Packet, vpc: Vpc, sender: Guest | None, receiver: Guest | None
) -> Iterator[PacketStepRow]:
    yield _end_in_vpc("source", packet.source, vpc, sender)
    if sender is not None:
        yield from _leaving(packet, sender)
    destination = ip_address(packet.destination)
    if any(destination in network for network in vpc.networks):
        yield _step("route", True, f"{destination} is reached by the router of VPC {vpc.label}.")
        yield _end_in_vpc("destination", packet.destination, vpc, receiver)
        if receiver is not None:
            yield _filter("inbound", packet, packet.source, receiver)
    elif vpc.public is None:
        reason = f"{packet.source} has no public address by 1:1 NAT: it reaches its VPC only."
        yield _step("route", False, reason)
    else:
        yield _step("route", True, f"It leaves VPC {vpc.label} as {vpc.public}.")
        outside = replace(packet, source=vpc.public)
        if receiver is not None:
            yield _route(outside, None, receiver)
        yield _end("destination", packet.destination, receiver)
        if receiver is not None:
            yield _filter("inbound", outside, outside.source, receiver)


def _end_in_vpc(stage: Stage, address: str, vpc: Vpc, guest: Guest | None) -> PacketStepRow:
    if guest is None:
        return _step(stage, False, f"No instance has {address} in VPC {vpc.label}.")
    return _end(stage, address, guest)


def _leaving(packet: Packet, sender: Guest) -> Iterator[PacketStepRow]:
    yield _spoofing(packet.source, sender)
    if sender.mail_restricted and packet.protocol == "TCP" and packet.port in MAIL_PORTS:
        reason = f"Instances of new accounts may not connect to port {packet.port}."
        yield _step("mail", False, reason, sender.entity)
    yield _filter("outbound", packet, packet.destination, sender)


def _end(stage: Stage, address: str, guest: Guest | None) -> PacketStepRow:
    if guest is None:
        other = f"{address} is of no instance of yours; what filters it is not told."
        return _step(stage, True, other)
    runs = guest.status == "running"
    state = f"Compute {guest.label} is {guest.status}."
    return _step(stage, runs, state, guest.entity)


def _spoofing(source: str, sender: Guest) -> PacketStepRow:
    found = ip_address(source)
    ranges = (ip_network(each) for each in sender.addresses if "/" in each)
    if source in sender.addresses or any(found in each for each in ranges):
        return _step("spoofing", True, f"{source} is its own.", sender.entity)
    reason = f"Compute {sender.label} may not send from {source}, which it does not have."
    return _step("spoofing", False, reason, sender.entity)


def _filter(direction: Direction, packet: Packet, other: str, guest: Guest) -> PacketStepRow:
    guard = guest.firewall
    if guard is None:
        reason = f"Compute {guest.label} is behind no firewall that is enabled."
        return _step(direction, True, reason, guest.entity)
    rules = guard.rules.inbound if direction == "inbound" else guard.rules.outbound
    policy = guard.rules.inbound_policy if direction == "inbound" else guard.rules.outbound_policy
    position = first_match(rules, packet.protocol, packet.port, other)
    action = policy if position is None else rules[position].action
    verb = "accepts" if action == "ACCEPT" else "drops"
    entity = FIREWALL.entity(guard.id, guard.label)
    if position is None:
        what = f"No {direction} rule of firewall {guard.label} matches; its policy {verb} it."
        return _step(direction, action == "ACCEPT", what, entity)
    rule: DecidingRuleRow = {
        "direction": direction,
        "position": position + 1,
        "label": guard.labels[direction][position],
        "action": action,
    }
    what = f"Rule {position + 1} of the {direction} rules of firewall {guard.label} {verb} it."
    return _step(direction, action == "ACCEPT", what, entity, rule)


def _route(packet: Packet, sender: Guest | None, receiver: Guest | None) -> PacketStepRow:
    reason = _unreachable(packet, sender, receiver)
    routed = f"{packet.destination} is reached by the region's router."
    return _step("route", reason is None, reason or routed)


def _unreachable(packet: Packet, sender: Guest | None, receiver: Guest | None) -> str | None:
    """Why no route leads to the destination."""
    guest = sender or receiver
    assert guest is not None
    source, destination = ip_address(packet.source), ip_address(packet.destination)
    if _within(destination, guest.private):
        apart = sender is not None and receiver is not None and sender.region != receiver.region
        outside = sender is None and not _within(source, guest.private)
        if apart or outside:
            return f"{destination} is private: it is reached from within its region only."
    elif receiver is None and any(destination in network for network in _LOCAL):
        return f"No route leads to {destination} outside of a VLAN or a VPC."
    if _within(source, guest.private) and not _within(destination, (*guest.private, *guest.public)):
        return f"{source} is private: nothing that it sends leaves its region."
    return None


def _within(address: IPv4Address | IPv6Address, networks: tuple[IPv4Network, ...]) -> bool:
    return any(address in network for network in networks)


def _step(
    stage: Stage,
    passes: bool,
    reason: str,
    entity: Entity | None = None,
    rule: DecidingRuleRow | None = None,
) -> PacketStepRow:
    return {"stage": stage, "passes": passes, "reason": reason, "entity": entity, "rule": rule}
