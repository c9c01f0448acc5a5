"""Ethernet frames as a guest might send them, honest or not."""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

_BROADCAST = b"\xff" * 6
_ARP, _IPV4, _IPV6, _VLAN, _QINQ = 0x0806, 0x0800, 0x86DD, 0x8100, 0x88A8
_TCP, _UDP, _FRAGMENT, _ICMPV6 = 6, 17, 44, 58
_NEIGHBOUR_SOLICITATION, _NEIGHBOUR_ADVERTISEMENT = 135, 136
_ROUTER_ADVERTISEMENT, _REDIRECT = 134, 137


@dataclass(frozen=True, slots=True)
class Sender:
    """The addresses that a frame claims to come from."""

    mac: str
    ipv4: IPv4Address
    ipv6: IPv6Address

    def arp(self, tag: bytes) -> bytes:
        """A gratuitous reply. Ethernet pads frames, so the tag rides behind it."""
        hardware = _mac(self.mac)
        body = struct.pack("!HHBBH", 1, _IPV4, 6, 4, 2) + hardware + self.ipv4.packed
        return self._frame(_ARP, body + _BROADCAST + self.ipv4.packed + tag)

    def arp_request(self, target: IPv4Address) -> bytes:
        body = struct.pack("!HHBBH", 1, _IPV4, 6, 4, 1) + _mac(self.mac) + self.ipv4.packed
        return self._frame(_ARP, body + bytes(6) + target.packed)

    def arp_probe(self, tag: bytes, target: IPv4Address) -> bytes:
        """Whether somebody has the address (RFC 5227): from nobody."""
        body = struct.pack("!HHBBH", 1, _IPV4, 6, 4, 1) + _mac(self.mac) + bytes(4)
        return self._frame(_ARP, body + bytes(6) + target.packed + tag)

    def udp(self, tag: bytes, source_port: int = 5000) -> bytes:
        body = struct.pack("!HHHH", source_port, 9, 8 + len(tag), 0) + tag
        target = IPv4Address("255.255.255.255").packed
        return self._frame(_IPV4, _ipv4_header(self.ipv4.packed, target, len(body)) + body)

    def tcp(self, tag: bytes, port: int) -> bytes:
        """The beginning of a connection to a port of everybody."""
        body = struct.pack("!HHIIBBHHH", 5000, port, 1, 0, 5 << 4, 2, 1024, 0, 0) + tag
        target = IPv4Address("255.255.255.255").packed
        return self._frame(_IPV4, _ipv4_header(self.ipv4.packed, target, len(body), _TCP) + body)

    def tcp6(self, tag: bytes, port: int) -> bytes:
        body = struct.pack("!HHIIBBHHH", 5000, port, 1, 0, 5 << 4, 2, 1024, 0, 0) + tag
        return self._frame(_IPV6, self._ipv6(_TCP, body))

    def udp6(self, tag: bytes, source_port: int = 5000) -> bytes:
        body = struct.pack("!HHHH", source_port, 9, 8 + len(tag), 0) + tag
        return self._frame(_IPV6, self._ipv6(_UDP, body))

    def neighbour_advertisement(self, tag: bytes, target: IPv6Address) -> bytes:
        return self._icmpv6(_NEIGHBOUR_ADVERTISEMENT, bytes(4) + target.packed + tag)

    def linked_advertisement(self, tag: bytes, mac: str) -> bytes:
        """Of its own address, at a link-layer address."""
        option = bytes([2, 1]) + _mac(mac)
        return self._icmpv6(_NEIGHBOUR_ADVERTISEMENT, bytes(4) + self.ipv6.packed + option + tag)

    def neighbour_probe(self, tag: bytes, target: IPv6Address) -> bytes:
        """Whether somebody has the address (RFC 4862): from nobody."""
        body = struct.pack("!BBHI", _NEIGHBOUR_SOLICITATION, 0, 0, 0) + target.packed + tag
        return self._frame(_IPV6, _ipv6_header(bytes(16), _ICMPV6, len(body)) + body)

    def fragmented_advertisement(self, tag: bytes) -> bytes:
        """The second fragment of a router advertisement, whose kind only the first one says."""
        body = struct.pack("!BBHI", _ICMPV6, 0, 8, 7) + struct.pack("!BBHII", 64, 0, 9, 0, 0) + tag
        return self._frame(_IPV6, self._ipv6(_FRAGMENT, body))

    def router_advertisement(self, tag: bytes) -> bytes:
        return self._icmpv6(_ROUTER_ADVERTISEMENT, struct.pack("!BBHII", 64, 0, 1800, 0, 0) + tag)

    def redirect(self, tag: bytes) -> bytes:
        return self._icmpv6(_REDIRECT, bytes(36) + tag)

    def tagged(self, tag: bytes) -> bytes:
        """In a VLAN of the sender's choice."""
        return self._frame(_VLAN, struct.pack("!HH", 7, _IPV4) + tag)

    def tagged_twice(self, tag: bytes) -> bytes:
        return self._frame(_QINQ, struct.pack("!HHHH", 7, _VLAN, 8, _IPV4) + tag)

    def to(self, mac: str, frame: bytes) -> bytes:
        """A frame to one receiver instead of all."""
        return _mac(mac) + frame[6:]

    def _icmpv6(self, kind: int, body: bytes) -> bytes:
        return self._frame(_IPV6, self._ipv6(_ICMPV6, struct.pack("!BBH", kind, 0, 0) + body))

    def _ipv6(self, protocol: int, body: bytes) -> bytes:
        return _ipv6_header(self.ipv6.packed, protocol, len(body)) + body

    def _frame(self, kind: int, body: bytes) -> bytes:
        return _BROADCAST + _mac(self.mac) + struct.pack("!H", kind) + body


def _ipv6_header(source: bytes, protocol: int, length: int) -> bytes:
    header = struct.pack("!IHBB", 6 << 28, length, protocol, 255)
    return header + source + IPv6Address("ff02::1").packed


def _ipv4_header(source: bytes, target: bytes, length: int, protocol: int = _UDP) -> bytes:
    def pack(checksum: int) -> bytes:
        fixed = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, protocol, checksum)
        return fixed + source + target

    total = sum(struct.unpack("!10H", pack(0)))
    return pack(~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))
