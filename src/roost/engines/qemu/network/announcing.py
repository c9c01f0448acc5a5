"""Telling neighbours which network card has an address now, without being asked.

By ARP for IPv4 (RFC 5227, announcements) and by neighbour advertisements for IPv6 (RFC 4861 7.2.6).
Whoever has another card in mind for the address forgets it.
"""

import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

_EVERYBODY = b"\xff" * 6
_ALL_NODES = "ff02::1"
_ARP = struct.Struct("!6s6sH HHBBH 6s4s6s4s")
_ETH_ARP, _ETHERNET, _ETH_IPV4, _REQUEST = 0x0806, 1, 0x0800, 1
_ADVERTISEMENT = struct.Struct("!BBHI16s BB6s")
_NEIGHBOR_ADVERTISEMENT, _TARGET_LINK_LAYER = 136, 2
_ROUTER, _OVERRIDE = 0x8000_0000, 0x2000_0000
_HOPS = 255


@dataclass(frozen=True, slots=True)
class Announcement:
    """`router`: whether who has the addresses forwards what is sent to it."""

    addresses: Sequence[IPv4Address | IPv6Address]
    router: bool = False


def announce(device: str, announcement: Announcement) -> None:
    """To all behind a device of this network namespace. Raises OSError."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as ethernet:
        ethernet.bind((device, 0))
        mac: bytes = ethernet.getsockname()[4]
        for address in announcement.addresses:
            if isinstance(address, IPv4Address):
                ethernet.send(_arp(mac, address))
    ipv6 = [each for each in announcement.addresses if isinstance(each, IPv6Address)]
    if ipv6:
        _advertise(device, mac, ipv6, router=announcement.router)


def _arp(mac: bytes, address: IPv4Address) -> bytes:
    ethernet = (_EVERYBODY, mac, _ETH_ARP)
    kind = (_ETHERNET, _ETH_IPV4, len(mac), len(address.packed), _REQUEST)
    return _ARP.pack(*ethernet, *kind, mac, address.packed, bytes(6), address.packed)


def _advertise(device: str, mac: bytes, addresses: list[IPv6Address], *, router: bool) -> None:
    """The kernel fills in the checksum."""
    index = socket.if_nametoindex(device)
    flags = _OVERRIDE | (_ROUTER if router else 0)
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as sender:
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, _HOPS)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        for address in addresses:
            message = _ADVERTISEMENT.pack(
                *(_NEIGHBOR_ADVERTISEMENT, 0, 0, flags, address.packed),
                *(_TARGET_LINK_LAYER, 1, mac),
            )
            sender.sendto(message, (_ALL_NODES, 0, 0, index))
