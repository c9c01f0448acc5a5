"""What the contract suite of firewalls asks: does this packet pass?

Two guests send each other the first packet of a connection, each through its own device. The real
harness writes frames to the devices and looks at what comes out of the others.
"""

import itertools
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Interface, IPv6Network
from pathlib import Path
from typing import Protocol

from roost.engines.qemu.network.config import NetworkConfig, bridge_mac
from roost.engines.qemu.network.engines import NftablesFirewalls
from roost.engines.qemu.network.namespace import within
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.simulated.firewalls import Packet, SimulatedFirewalls
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import GuestAddress
from roost.resources.firewalls.engine import FirewallEngine
from tests.engines.harness import Pools, claim_pools
from tests.engines.qemu_host import output

CONNECTIONS = 15_000
"""That are begun until the first is begun anew: fewer than one address may have."""
_HEADER_BYTES = 10
"""What the kernel puts before each frame of a device with offloads."""
_PROTOCOL = _HEADER_BYTES + 23
"""Where a frame of IPv4 says what it carries: not an error about what was sent."""
_NUMBERS = {"TCP": 6, "UDP": 17, "IPENCAP": 4, "ICMP": 1, None: 112}
_WITHOUT_PORTS = ("IPENCAP", None)
_ICMPV6, _ECHO, _ECHO6 = 58, 8, 128
_IPV4, _IPV6 = 0x0800, 0x86DD


class FirewallHarness(Protocol):
    """One region's firewalls, and two guests of it with several addresses each."""

    own: tuple[str, ...]
    """Of the guest that tests put behind firewalls."""
    others: tuple[str, ...]
    """Of its peer."""

    @property
    def engine(self) -> FirewallEngine: ...

    def reopen(self) -> FirewallEngine:
        """Another engine object over the same state, as after a restart or in a worker."""

    async def passes(self, packet: Packet) -> bool:
        """Whether the guest that the packet is for gets it, as the first of a connection."""

    async def passing(self, packets: Sequence[Packet]) -> list[bool]:
        """The same of many, each of which is the first of a connection of its own."""

    async def answered(self, packet: Packet) -> bool:
        """Whether a packet that passed can be answered; the same connection each time."""

    async def tamper(self, firewall_id: int) -> None:
        """Somebody removes the inbound rules of a firewall."""

    async def close(self) -> None: ...


RANGES = (IPv6Network("2001:db8:ff00::/64"), IPv6Network("2001:db8:ff01::/56"))
"""Of the one guest, and of the other."""


def specs(pools: Pools) -> tuple[InstanceSpec, InstanceSpec]:
    """Guests with three IPv4 addresses each, one of IPv6, and a range."""
    found = [pools.spec(number) for number in (100_001, 100_002)]
    first, second = (_with_addresses(spec, pools, base) for base, spec in enumerate(found))
    return replace(first, ranges=frozenset({RANGES[0]})), replace(
        second, ranges=frozenset({RANGES[1]})
    )


def _with_addresses(spec: InstanceSpec, pools: Pools, base: int) -> InstanceSpec:
    more = (pools.ipv4.network[100 + 10 * base + index] for index in range(2))
    extra = (GuestAddress(IPv4Interface((address, 24)), None) for address in more)
    return replace(spec, ipv4=(*spec.ipv4, *extra))


def addresses(spec: InstanceSpec) -> tuple[str, ...]:
    assert spec.ipv6 is not None
    return (*(str(each.interface.ip) for each in spec.ipv4), str(spec.ipv6.ip))


class SimulatedFirewallHarness:
    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self.engine = self.reopen()
        self.own, self.others = map(addresses, specs(Pools(0)))

    def reopen(self) -> SimulatedFirewalls:
        return SimulatedFirewalls(self._state_dir, latency=0)

    async def passes(self, packet: Packet) -> bool:
        return await self.engine.passes(packet)

    async def passing(self, packets: Sequence[Packet]) -> list[bool]:
        return [await self.engine.passes(packet) for packet in packets]

    async def answered(self, packet: Packet) -> bool:
        return await self.engine.passes(packet)

    async def tamper(self, firewall_id: int) -> None:
        await self.engine.lose(firewall_id)

    async def close(self) -> None:
        await self.engine.close()


@dataclass(frozen=True)
class _Port:
    """A guest's device, with the test in the guest's place."""

    spec: InstanceSpec
    descriptor: int

    def received(self) -> Iterator[bytes]:
        while True:
            try:
                yield os.read(self.descriptor, 65_536)
            except BlockingIOError:
                return


class NftablesHarness:
    def __init__(self, state_dir: Path) -> None:
        self._pools = claim_pools()
        self._state_dir = state_dir
        self._config = NetworkConfig((self._pools.ipv4,), self._pools.ipv6)
        self.network = GuestNetwork(state_dir, self._config)
        self.engine = self.reopen()
        self._specs = specs(self._pools)
        self.own, self.others = map(addresses, self._specs)
        self._numbers = itertools.count(1)
        self._ports: dict[str, _Port] = {}

    def reopen(self) -> NftablesFirewalls:
        return NftablesFirewalls(self._state_dir, self._config)

    @property
    def specs(self) -> tuple[InstanceSpec, InstanceSpec]:
        return self._specs

    async def open(self, *, neighbours: bool = True) -> None:
        """With neighbours the gateway knows all that the test may call the guests'."""
        for spec in self._specs:
            (descriptor,) = await self.network.attach(spec)
            os.set_blocking(descriptor, False)
            port = _Port(spec, descriptor)
            for network in spec.ranges:
                self._ports[str(network[7])] = port
            for address in addresses(spec):
                self._ports[address] = port
                if not neighbours:
                    continue
                neighbour = (address, "lladdr", spec.mac, "dev", "br0", "nud", "permanent")
                output("ip", "-n", self.network.name, "neigh", "replace", *neighbour)

    async def passes(self, packet: Packet) -> bool:
        await within(self.network.name, forget_connections)
        return self.gets(packet, 1024 + next(self._numbers) % CONNECTIONS)

    async def passing(self, packets: Sequence[Packet]) -> list[bool]:
        await within(self.network.name, forget_connections)
        found = list[bool]()
        for port, packet in enumerate(packets, 1024):
            if packet.protocol in _WITHOUT_PORTS:  # One the other way would be its answer.
                await within(self.network.name, forget_connections)
            found.append(self.gets(packet, port))
        return found

    async def answered(self, packet: Packet) -> bool:
        port = 40_000
        if not self.gets(packet, port):
            return False
        back = Packet(packet.target, packet.source, packet.protocol, port)
        return self.gets(back, packet.port or 0)

    def gets(self, packet: Packet, port: int) -> bool:
        """From a port of the source. The kernel has done with a frame when it is written."""
        tag = b"packet %d." % next(self._numbers)
        sender, receiver = self._ports[packet.source], self._ports[packet.target]
        kind, body = ip_packet(packet, tag, port)
        frame = _mac(bridge_mac(self._config)) + _mac(sender.spec.mac)
        os.write(sender.descriptor, bytes(_HEADER_BYTES) + frame + struct.pack("!H", kind) + body)
        return any(tag in each for each in list(receiver.received()))

    def write(self, compute_id: int, frame: bytes) -> None:
        """What a guest sends, honest or not."""
        port = next(each for each in self._ports.values() if each.spec.id == compute_id)
        os.write(port.descriptor, bytes(_HEADER_BYTES) + frame)

    async def delivered(self, compute_id: int, packet: Packet) -> int | None:
        """Which of the guests gets what one sends: its index; None for nobody."""
        await within(self.network.name, forget_connections)
        tag = b"packet %d." % next(self._numbers)
        kind, body = ip_packet(packet, tag, 1024 + next(self._numbers) % CONNECTIONS)
        sender = next(spec for spec in self._specs if spec.id == compute_id)
        frame = _mac(bridge_mac(self._config)) + _mac(sender.mac)
        self.write(compute_id, frame + struct.pack("!H", kind) + body)
        for index, spec in enumerate(self._specs):
            port = next(each for each in self._ports.values() if each.spec.id == spec.id)
            if any(tag in each and each[_PROTOCOL] == 17 for each in list(port.received())):
                return index
        return None

    async def tamper(self, firewall_id: int) -> None:
        inside = f"--net=/run/netns/{self.network.name}"
        chain = f"fw{firewall_id}_in4"
        output("nsenter", inside, "nft", "flush", "chain", "inet", "roost", chain)

    async def close(self) -> None:
        for descriptor in {port.descriptor for port in self._ports.values()}:
            os.close(descriptor)
        await self.network.tear_down()


async def open_harness(kind: str, state_dir: Path) -> FirewallHarness:
    if kind == "simulated":
        return SimulatedFirewallHarness(state_dir)
    harness = NftablesHarness(state_dir)
    await harness.open()
    return harness


def forget_connections() -> None:
    """Of the namespace that the thread is in."""
    request, acknowledge, delete = 1, 4, 1 << 8 | 2
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as kernel:
        header = struct.pack("=IHHII", 20, delete, request | acknowledge, 1, 0)
        kernel.send(header + bytes(4))
        (problem,) = struct.unpack_from("=i", kernel.recv(4096), 16)
        assert problem == 0, os.strerror(-problem)


def ip_packet(packet: Packet, tag: bytes, port: int) -> tuple[int, bytes]:
    """The Ethernet type, and what is in the frame."""
    family = socket.AF_INET6 if ":" in packet.source else socket.AF_INET
    source, target = (socket.inet_pton(family, each) for each in (packet.source, packet.target))
    is_v6 = family == socket.AF_INET6
    number = _ICMPV6 if is_v6 and packet.protocol == "ICMP" else _NUMBERS[packet.protocol]
    body = _body(packet, tag, port, is_v6, partial(_pseudo, source, target, number))
    if is_v6:
        return _IPV6, struct.pack("!IHBB", 6 << 28, len(body), number, 64) + source + target + body
    fixed = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, number, 0)
    checksum = struct.pack("!H", _checksum(fixed + source + target))
    return _IPV4, fixed[:10] + checksum + source + target + body


class _Pseudo(Protocol):
    def __call__(self, length: int) -> bytes: ...


def _body(packet: Packet, tag: bytes, port: int, is_v6: bool, pseudo: _Pseudo) -> bytes:
    if packet.protocol == "UDP":
        head = struct.pack("!HHHH", port, packet.port or 0, 8 + len(tag), 0)
        return _summed(head + tag, 6, pseudo)
    if packet.protocol == "TCP":
        head = struct.pack("!HHIIBBHHH", port, packet.port or 0, 1, 0, 5 << 4, 2, 1024, 0, 0)
        return _summed(head + tag, 16, pseudo)
    if packet.protocol == "ICMP":
        head = struct.pack("!BBHHH", _ECHO6 if is_v6 else _ECHO, 0, 0, port, 1)
        return _summed(head + tag, 2, pseudo if is_v6 else None)
    return bytes(20) + tag


def _summed(body: bytes, place: int, pseudo: _Pseudo | None) -> bytes:
    before = b"" if pseudo is None else pseudo(length=len(body))
    return body[:place] + struct.pack("!H", _checksum(before + body)) + body[place + 2 :]


def _pseudo(source: bytes, target: bytes, number: int, length: int) -> bytes:
    return source + target + struct.pack("!II", length, number)


def _checksum(data: bytes) -> int:
    data += bytes(len(data) % 2)
    total = int(sum(struct.unpack(f"!{len(data) // 2}H", data)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))
