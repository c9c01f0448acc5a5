"""What firewalls need from a data plane.

A firewall is given whole, with the addresses that are behind it, so that a call says how things
are to be and not what changes. All methods are idempotent. Every one may raise EngineError.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Literal, Protocol

from roost.core.engine import Health
from roost.core.planes import Plane

Action = Literal["ACCEPT", "DROP"]
TransportProtocol = Literal["TCP", "UDP", "ICMP", "IPENCAP"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; a packet matches it by the protocol, a port and the address of the other side."""

    action: Action
    protocol: TransportProtocol
    """`ICMP` is ICMPv6 too, `IPENCAP` protocol 4 in IPv4 and IPv6."""
    ports: tuple[tuple[int, int], ...]
    """First and last port of each piece; empty for all."""
    networks: tuple[str, ...]
    """Of both families, as `192.0.2.0/24` or `2001:db8::/32`; bits of the host may be set."""


def first_match(
    rules: Sequence[Rule], protocol: TransportProtocol | None, port: int | None, other: str
) -> int | None:
    """The position of the rule that decides on a connection with the `other` side; None: policy."""
    address = ip_address(other)
    for position, rule in enumerate(rules):
        if rule.protocol != protocol:
            continue
        if rule.ports and not any(first <= (port or 0) <= last for first, last in rule.ports):
            continue
        if any(address in ip_network(network, strict=False) for network in rule.networks):
            return position
    return None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The first rule that matches decides, or else the policy."""

    inbound: tuple[Rule, ...]
    inbound_policy: Action
    outbound: tuple[Rule, ...]
    outbound_policy: Action

    @property
    def digest(self) -> str:
        """Another one for any other rules."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class FirewallSpec:
    """A firewall as it should be in one region."""

    id: int
    rules: RuleSet
    addresses: frozenset[str]
    """Of the services behind it, IPv4 and IPv6 in their shortest form, and ranges of IPv6 with
    their prefix lengths; never empty."""
    inside: frozenset[tuple[int, str]] = frozenset()
    """VPCs by id, and IPv4 addresses or networks in them. A public address that stands for one of
    them (1:1 NAT) is here, too."""
    balanced: frozenset[str] = frozenset()
    """Those of the addresses that are NodeBalancers': of them only what comes in by TCP is
    filtered."""


@dataclass(frozen=True, slots=True)
class FirewallState:
    """A firewall as it is."""

    id: int
    digest: str | None
    """Of the rules that are in force; None when they are not what the engine has written."""
    addresses: frozenset[str]
    inside: frozenset[tuple[int, str]] = frozenset()

    def fits(self, spec: FirewallSpec) -> bool:
        held = self.digest, self.addresses, self.inside
        return held == (spec.rules.digest, spec.addresses, spec.inside)


class FirewallEngine(Protocol):
    """One data plane that filters what guests of the region's InstanceEngine send and get.

    An address that no firewall has is open in both directions. In a VPC a firewall filters from the
    first guest on that runs there, before that guest's first packet. Connections are judged as
    wholes, by their first packet: what they answer passes, and one that the rules of this moment
    would not let begin is cut, in both directions.
    """

    @property
    def name(self) -> str: ...

    async def apply(self, firewall: FirewallSpec) -> None:
        """Put it in force, with exactly these rules and addresses, which no other has any more.

        Every packet meets the former rules or these, never a part of either. Done when it returns.
        """

    async def remove(self, firewall_id: int) -> None:
        """Its addresses are open then. Nothing happens when there is none."""

    async def inspect(self, firewall_id: int) -> FirewallState | None:
        """None when nothing of it is there."""

    async def list(self) -> list[FirewallState]:
        """All that the engine holds, by id."""

    async def health(self) -> Health: ...

    async def close(self) -> None:
        """Let go of the data plane, which goes on filtering."""


FIREWALL_PLANE: Plane[FirewallEngine] = Plane("firewalls")
