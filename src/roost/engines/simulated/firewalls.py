"""Firewalls that exist only as records; they say of a packet whether it would pass."""

from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network
from pathlib import Path

from pydantic import TypeAdapter

from roost.core.engine import EngineError, Health
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.state import Documents
from roost.resources.firewalls.engine import (
    Action,
    FirewallSpec,
    FirewallState,
    Rule,
    TransportProtocol,
    first_match,
)

_KIND = "firewall"
_SPEC = TypeAdapter(FirewallSpec)


@dataclass(frozen=True, slots=True)
class Packet:
    """The first packet of a connection."""

    source: str
    target: str
    protocol: TransportProtocol | None
    """None for any other one."""
    port: int | None = None
    """Of the target; TCP and UDP have one."""
    vpc_id: int | None = None
    """In which VPC it is; None: in the region's network."""


class SimulatedFirewalls:
    """A FirewallEngine for the guests of a SimulatedInstances with the same `state_dir`."""

    name = "simulated"

    def __init__(self, state_dir: Path, latency: float) -> None:
        """`latency`: seconds that each change takes."""
        self._plane = Plane(state_dir, latency)

    async def apply(self, firewall: FirewallSpec) -> None:
        await self._plane.fail_if_planned("firewall_apply")
        await self._plane.plan.wait("firewall_apply", str(firewall.id))
        await self._plane.transact(lambda documents: _apply(documents, firewall))

    async def remove(self, firewall_id: int) -> None:
        await self._plane.fail_if_planned("firewall_remove")
        await self._plane.plan.wait("firewall_remove", str(firewall_id))
        await self._plane.transact(lambda documents: _put(documents, firewall_id, None))

    async def list(self) -> list[FirewallState]:
        await self._plane.fail_if_planned("firewall_list")
        found = await self._plane.survey(_all)
        return list(map(_state, found))

    async def inspect(self, firewall_id: int) -> FirewallState | None:
        return next((state for state in await self.list() if state.id == firewall_id), None)

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def close(self) -> None:
        self._plane.state.close()

    async def passes(self, packet: Packet) -> bool:
        """Whether both ends let a connection begin with this packet."""
        for firewall in await self._plane.survey(_all):
            rules = firewall.rules
            held = _held(firewall, packet.vpc_id)
            sends = _has(held - firewall.balanced, packet.source)
            gets = _has(held, packet.target) and (
                packet.target not in firewall.balanced or packet.protocol == "TCP"
            )
            if (
                sends
                and _decide(rules.outbound, rules.outbound_policy, packet, packet.target) == "DROP"
            ):
                return False
            if (
                gets
                and _decide(rules.inbound, rules.inbound_policy, packet, packet.source) == "DROP"
            ):
                return False
        return True

    async def lose(self, firewall_id: int) -> None:
        """It vanishes, as rules would that somebody flushes."""
        await self._plane.transact(lambda documents: _put(documents, firewall_id, None))


def _held(firewall: FirewallSpec, vpc_id: int | None) -> frozenset[str]:
    """What it filters in a VPC, or in the region's network."""
    if vpc_id is None:
        return firewall.addresses
    return frozenset(address for vpc, address in firewall.inside if vpc == vpc_id)


def _has(held: frozenset[str], address: str) -> bool:
    """As an address, or in a range."""
    found = ip_address(address)
    return address in held or any(found in ip_network(each) for each in held if "/" in each)


def _decide(rules: tuple[Rule, ...], policy: Action, packet: Packet, other: str) -> Action:
    position = first_match(rules, packet.protocol, packet.port, other)
    return policy if position is None else rules[position].action


def _apply(documents: Documents, firewall: FirewallSpec) -> None:
    if not firewall.addresses:
        raise EngineError("A firewall without addresses cannot be put in force")
    for other in _all(documents):
        left = other.addresses - firewall.addresses
        inside = other.inside - firewall.inside
        if other.id != firewall.id and (left, inside) != (other.addresses, other.inside):
            less = replace(other, addresses=left, inside=inside)
            _put(documents, other.id, less if left else None)
    _put(documents, firewall.id, firewall)


def _state(firewall: FirewallSpec) -> FirewallState:
    digest = firewall.rules.digest
    return FirewallState(firewall.id, digest, firewall.addresses, firewall.inside)


def _put(documents: Documents, firewall_id: int, firewall: FirewallSpec | None) -> None:
    body = None if firewall is None else _SPEC.dump_json(firewall).decode()
    documents.write(_KIND, str(firewall_id), body)


def _all(documents: Documents) -> list[FirewallSpec]:
    bodies = documents.read_all(_KIND).values()
    return sorted(map(_SPEC.validate_json, bodies), key=lambda each: each.id)
