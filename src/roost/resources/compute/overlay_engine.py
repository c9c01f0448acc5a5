"""What compute needs of a data plane whose networks span hosts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Protocol

from roost.resources.compute.live_engine import HostAddress


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """The address of a guest, or a NodeBalancer, that is on another host of the region."""

    host: HostAddress
    """At which that host is reached."""
    address: IPv4Address | IPv6Address
    ranges: frozenset[IPv4Network] | frozenset[IPv6Network] = frozenset()
    """What is routed to it besides."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """What the networks of a host's guests have on the region's other hosts."""

    address: HostAddress | None = None
    """At which the others reach this host; None: its networks are its own."""
    hosts: frozenset[HostAddress] = frozenset()
    """All others of the cloud, into whose networks no guest of this host may send as this host."""
    region: frozenset[RemoteAddress] = frozenset()
    """Public and private addresses, but for those in VPCs."""
    vlans: Mapping[int, frozenset[HostAddress]] = field(default_factory=dict)
    """Other hosts with guests in a VLAN, by its id."""
    vpcs: Mapping[int, frozenset[RemoteAddress]] = field(default_factory=dict)
    """Addresses of IPv4 in a VPC, by its id."""


class OverlayEngine(Protocol):
    """Carries what guests say to each other to the other hosts of their region.

    Each host is told where the others' guests are. Who hears whom is the same as on one host.
    """

    async def set(self, overlay: Overlay) -> None:
        """Exactly this, from the next packet on. A network without guests gets its part before the
        first one's device."""

    async def get(self) -> Overlay | None:
        """What was set last; None when somebody has changed it since."""
