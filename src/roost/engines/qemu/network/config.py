"""Names and addresses of a region's network on the host."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from pathlib import Path

from roost.core.catalog.entries import Uplink

GUEST_METRIC = 10
"""Of routes to guests of this host, which count after those to other hosts."""

NAMESPACES = Path("/run/netns")
BRIDGE = "br0"
UPLINK = "uplink"
"""The namespace's end of the cable to the host; the host's end is named as the namespace."""

CABLES = "roost-"
"""How the host's ends of all regions' cables begin."""

ROUTER = IPv6Interface("fe80::1/64")
"""The gateway of guests, as it advertises itself."""

METADATA = (IPv4Address("169.254.169.254"), IPv6Address("fd00:a9fe:a9fe::1"))
"""Where guests ask about themselves, at `METADATA_PORT`."""
METADATA_PORT = 80

_LINK_LOCAL = IPv4Network("169.254.0.0/16")
_RESERVED = (
    IPv4Network("169.254.0.0/24"),
    IPv4Network("169.254.169.0/24"),
    IPv4Network("169.254.255.0/24"),
)
"""By RFC 3927, and by clouds for their metadata services."""


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """The gateways' addresses in the region's pools, each with the prefix of its pool."""

    ipv4: tuple[IPv4Interface, ...]
    ipv6: IPv6Interface
    """Of a /64, from which guests give themselves addresses (SLAAC)."""
    private: tuple[IPv4Network, ...] = ()
    """Pools of addresses that only the region's guests reach."""
    ranges: tuple[IPv6Network, ...] = ()
    """Networks of which parts are routed to guests."""
    uplink: Uplink = "none"
    host_ports: tuple[str, ...] = ()
    """Of the host itself, such as `tcp/443` or `udp/5000-5010`, that guests reach."""
    resolvers: tuple[IPv4Address | IPv6Address, ...] = ()
    """DNS servers of guests, which may be the host."""

    @property
    def pools(self) -> tuple[IPv4Network | IPv6Network, ...]:
        return (*(gateway.network for gateway in self.ipv4), self.ipv6.network, *self.ranges)

    @property
    def gateways(self) -> tuple[IPv4Address | IPv6Address, ...]:
        """As guests know them."""
        return (*(gateway.ip for gateway in self.ipv4), self.ipv6.ip, ROUTER.ip)


def network_name(state_dir: Path) -> str:
    """Name of the namespace, and of the host's network device to it."""
    return f"{CABLES}{_digest(state_dir).hex()[:8]}"


def vlans_name(state_dir: Path) -> str:
    """Name of the namespace of the region's VLANs."""
    return f"{network_name(state_dir)}-vlans"


def vlan_bridge_name(vlan_id: int) -> str:
    """Name of a VLAN's bridge inside it; 15 characters at most."""
    return f"vlan{vlan_id}"


def vpc_name(state_dir: Path, vpc_id: int) -> str:
    """Name of the namespace of a VPC."""
    return f"{network_name(state_dir)}-vpc{vpc_id}"


def vpc_names(state_dir: Path) -> list[str]:
    """Those that there are."""
    return sorted(path.name for path in NAMESPACES.glob(f"{network_name(state_dir)}-vpc*"))


def vpc_cable_name(vpc_id: int) -> str:
    """Name of the region's end of the cable to a VPC."""
    return f"vpc{vpc_id}"


def tap_name(compute_id: int) -> str:
    """Name of a guest's network device inside the namespace."""
    return f"tap{compute_id}"


def side_tap_name(compute_id: int, number: int) -> str:
    """Name of its device for eth`number` when that is not the public one; 15 characters at most."""
    return f"tap{compute_id}.{number}"


def bridge_mac(config: NetworkConfig) -> str:
    """A locally administered address, so that the gateway keeps it whatever is attached.

    It is the same on all hosts of a region: a guest that comes from another one goes on with it.
    """
    return ":".join(f"{octet:02x}" for octet in (2, *_gateway(config)[:5]))


def region_number(config: NetworkConfig) -> int:
    """A number for the region: the same on all its hosts, and hardly ever another region's."""
    return int.from_bytes(_gateway(config)[:4], "big")


def ipv6_link(state_dir: Path) -> tuple[IPv6Interface, IPv6Interface]:
    """The host's and the namespace's end of the cable: a unique local /64 (RFC 4193)."""
    prefix = b"\xfd" + _digest(state_dir)[:5] + bytes(2)
    near, far = (IPv6Interface((prefix + bytes(7) + bytes([n]), 64)) for n in (1, 2))
    return near, far


def ipv4_links(state_dir: Path) -> Iterator[IPv4Network]:
    """Link-local /30 networks for the cable in the order of preference (RFC 3927)."""
    count = _LINK_LOCAL.num_addresses // 4
    first = int.from_bytes(_digest(state_dir)[:4], "big")
    for index in range(first, first + count):
        network = IPv4Network((int(_LINK_LOCAL.network_address) + index % count * 4, 30))
        if not any(network.overlaps(reserved) for reserved in _RESERVED):
            yield network


def _gateway(config: NetworkConfig) -> bytes:
    return hashlib.sha256(str(config.ipv6).encode()).digest()


def _digest(state_dir: Path) -> bytes:
    return hashlib.sha256(str(state_dir.resolve()).encode()).digest()
