"""Ethernet frames as a guest might send them, honest or not."""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

_BROADCAST = b"\xff" * 6
_ARP, _IPV4, _IPV6, _VLAN = 0x0806, 0x0800, 0x86DD, 0x8100
_TCP, _UDP, _ICMPV6 = 6, 17, 58
_NEIGHBOUR_ADVERTISEMENT, _ROUTER_ADVERTISEMENT, _REDIRECT = 136, 134, 137


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

    def router_advertisement(self, tag: bytes) -> bytes:
        return self._icmpv6(_ROUTER_ADVERTISEMENT, struct.pack("!BBHII", 64, 0, 1800, 0, 0) + tag)

    def redirect(self, tag: bytes) -> bytes:
        return self._icmpv6(_REDIRECT, bytes(36) + tag)

    def tagged(self, tag: bytes) -> bytes:
        """In a VLAN of the sender's choice."""
        return self._frame(_VLAN, struct.pack("!HH", 7, _IPV4) + tag)

    def _icmpv6(self, kind: int, body: bytes) -> bytes:
        return self._frame(_IPV6, self._ipv6(_ICMPV6, struct.pack("!BBH", kind, 0, 0) + body))

    def _ipv6(self, protocol: int, body: bytes) -> bytes:
        header = struct.pack("!IHBB", 6 << 28, len(body), protocol, 255)
        return header + self.ipv6.packed + IPv6Address("ff02::1").packed + body

    def _frame(self, kind: int, body: bytes) -> bytes:
        return _BROADCAST + _mac(self.mac) + struct.pack("!H", kind) + body


def _ipv4_header(source: bytes, target: bytes, length: int, protocol: int = _UDP) -> bytes:
    def pack(checksum: int) -> bytes:
        fixed = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, protocol, checksum)
        return fixed + source + target

    total = sum(struct.unpack("!10H", pack(0)))
    return pack(~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))
