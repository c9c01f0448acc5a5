"""What compute needs of a data plane's network: interfaces of guests, addresses and traffic."""

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from typing import Literal, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class GuestAddress:
    """A static IPv4 address of a guest with its prefix; `gateway` is None for private ones."""

    interface: IPv4Interface
    gateway: IPv4Address | None


MAIL_PORTS = (25, 465, 587)
"""To which guests of some accounts may not connect by TCP."""


@dataclass(frozen=True, slots=True)
class GuestAddresses:
    """What a guest may send from, and what is brought to it."""

    id: int
    mac: str
    ipv4: frozenset[IPv4Address]
    """Its own."""
    shared: frozenset[IPv4Address]
    """Its own or others', each of several guests: the one that announced it last gets it."""
    ipv6: IPv6Address | None
    mail_restricted: bool
    ranges: frozenset[IPv6Network] = frozenset()
    """Routed to its `ipv6`; it may send from all of them."""
    shared_ranges: frozenset[IPv6Network] = frozenset()
    """Others', from which it may send too."""

    @property
    def has_any(self) -> bool:
        """Whether the guest was started with an interface to the outside."""
        return bool(self.ipv4 or self.shared or self.ipv6)


class AddressEngine(Protocol):
    """What running guests may send and get; nobody speaks for another."""

    async def set(self, guest: GuestAddresses) -> None:
        """Exactly this, from the next packet on. Nothing happens to a guest that is off."""

    async def list(self) -> Mapping[int, GuestAddresses | None]:
        """The addresses of all running guests by id; None for one whose filter, routes or counters
        somebody changed."""

    async def dropped(self) -> Mapping[str, int]:
        """Frames in the name of others that filters of guests kept back, by reason."""


class Connected(Protocol):
    """The end of a connection that is ours, of whatever event loop."""

    def getsockopt(self, level: int, name: int, /) -> int: ...


class MetadataEngine(Protocol):
    """Where guests ask about themselves, by HTTP at 169.254.169.254 and fd00:a9fe:a9fe::1."""

    def networks(self) -> Sequence[str]:
        """Names of those in which guests may ask: the region's, and each VPC."""

    def identity(self, network: str) -> str | None:
        """Another one after the network was made anew; None while there is none."""

    async def listen(self, network: str) -> Sequence[socket.socket]:
        """Listeners that only guests reach, whatever their firewalls say; the caller closes them.

        None while another process listens, or the network is being made. Raises EngineError.
        """

    def asker(self, connection: Connected) -> int:
        """The guest at the other end of a connection to a listener, by the device that the
        connection's first packet came from; 0 when it is not known."""


@dataclass(frozen=True, slots=True)
class PublicLink:
    """The interface with the MAC address and the public and private addresses of the instance."""

    purpose: Literal["public"] = "public"


@dataclass(frozen=True, slots=True)
class VlanLink:
    """An interface in a layer 2 segment that nobody else sees: no gateway, no filter."""

    vlan_id: int
    mac: str
    interface: IPv4Interface | IPv6Interface | None
    """The address that the guest gives itself at boot."""
    purpose: Literal["vlan"] = "vlan"


@dataclass(frozen=True, slots=True)
class VpcLink:
    """An interface in a subnet of a VPC, behind the subnet's gateway."""

    vpc_id: int
    subnet_id: int
    mac: str
    interface: IPv4Interface
    """The guest's address, with the prefix length of the subnet."""
    public: IPv4Address | None
    """A public address that stands for it outside (1:1 NAT)."""
    ranges: tuple[IPv4Network, ...]
    """What is routed to the guest besides."""
    routes: tuple[IPv4Network, ...]
    """The other subnets of the VPC."""
    primary: bool
    """Whether the guest's default route is here."""
    purpose: Literal["vpc"] = "vpc"

    @property
    def gateway(self) -> IPv4Address:
        return self.interface.network[1]


Link: TypeAlias = PublicLink | VlanLink | VpcLink


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes to and from a guest, from the IP header on; they outlive the guest's own start."""

    epoch: str = ""
    """Other counters of the guest, which began at 0, have another one."""
    ipv4_in: int = 0
    ipv4_out: int = 0
    private_in: int = 0
    """From private addresses of IPv4, which are not in `ipv4_in`."""
    private_out: int = 0
    ipv6_in: int = 0
    ipv6_out: int = 0
