"""What the contract suite of VLANs asks: who hears this frame?

The real harness writes frames to the guests' devices and looks at what comes out of the others, of
the gateway and of the host.
"""

import itertools
import os
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address
from pathlib import Path
from typing import Protocol

from roost.clock import Clock
from roost.core.catalog.entries import Uplink
from roost.engines.qemu.network.config import NetworkConfig, bridge_mac, vlans_name
from roost.engines.qemu.network.engines import NftablesFirewalls
from roost.engines.qemu.network.namespace import within
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.network.vpcs import gateway_mac
from roost.engines.simulated.firewalls import Packet, SimulatedFirewalls
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.packets import Arrival
from roost.engines.simulated.segments import Port
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import Link, PublicLink, VlanLink, VpcLink
from roost.resources.compute.rules import side_mac_address
from roost.resources.firewalls.engine import FirewallEngine
from tests.engines.firewall_harness import ip_packet
from tests.engines.frames import Sender
from tests.engines.harness import Pools, claim_pools
from tests.engines.qemu_host import output

PORT = 4000
"""To which packets go."""
_HEADER_BYTES = 10
_POLL_SECONDS = 0.005
_UDP = 17
_ALL_PROTOCOLS = 3
_ANY = IPv4Address("198.51.100.7")
_LINK_LOCAL = IPv6Address("fe80::7")
_ARP_REPLY = bytes.fromhex("0001080006040002")
"""Hardware and protocol, their lengths, and that it is a reply (RFC 826)."""


class SegmentHarness(Protocol):
    """Guests of one region, of which only the network matters."""

    @property
    def firewalls(self) -> FirewallEngine: ...

    def guest(self, compute_id: int, *vlans: int | None) -> InstanceSpec:
        """One with interfaces to these VLANs, None for the public one."""

    async def attach(self, spec: InstanceSpec) -> None:
        """The guest runs."""

    async def detach(self, compute_id: int) -> None:
        """The guest goes away."""

    async def hearers(self, sender: Port, mac: str | None = None) -> set[Port]:
        """Who gets a frame to everybody; from the interface's own MAC address, if none is given."""

    def place(self, spec: InstanceSpec, *places: "Place | None") -> InstanceSpec:
        """The guest with interfaces in subnets instead, None for the public one."""

    async def arrival(self, sender: Port, source: str, target: str) -> Arrival | None:
        """What becomes of an IPv4 packet; whoever gets it answers, and the answer comes back."""

    def public(self, number: int) -> str:
        """An address of the pool that no guest has."""

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Place:
    """Where an interface is: a subnet's id, of the VPC of its hundreds, and its network."""

    subnet_id: int
    address: str
    public: str | None = None
    ranges: tuple[str, ...] = ()

    def link(self, compute_id: int, number: int) -> VpcLink:
        return VpcLink(
            vpc_id=self.subnet_id // 100,
            subnet_id=self.subnet_id,
            mac=side_mac_address(compute_id, number),
            interface=IPv4Interface(self.address),
            public=None if self.public is None else IPv4Address(self.public),
            ranges=tuple(map(IPv4Network, self.ranges)),
            routes=(),
            primary=True,
        )


def _placed(spec: InstanceSpec, places: tuple[Place | None, ...]) -> InstanceSpec:
    links = (
        PublicLink() if place is None else place.link(spec.id, number)
        for number, place in enumerate(places)
    )
    held = spec.ipv4 if None in places else ()
    return replace(spec, links=tuple(links), ipv4=held)


def _guest(pools: Pools, compute_id: int, vlans: tuple[int | None, ...]) -> InstanceSpec:
    def link(number: int, vlan: int | None) -> Link:
        if vlan is None:
            return PublicLink()
        return VlanLink(vlan, side_mac_address(compute_id, number), None)

    links = tuple(link(number, vlan) for number, vlan in enumerate(vlans))
    return replace(pools.spec(compute_id), links=links, devices=(), root=None, rescue=True)


def mac_of(spec: InstanceSpec, number: int) -> str:
    link = spec.links[number]
    return spec.mac if isinstance(link, PublicLink) else link.mac


class SimulatedSegments:
    def __init__(self, state_dir: Path) -> None:
        self._engine = SimulatedInstances(state_dir, 0, Clock())
        self.firewalls = SimulatedFirewalls(state_dir, 0)
        self._specs: dict[int, InstanceSpec] = {}

    def guest(self, compute_id: int, *vlans: int | None) -> InstanceSpec:
        return _guest(Pools(0), compute_id, vlans)

    async def attach(self, spec: InstanceSpec) -> None:
        self._specs[spec.id] = spec
        await self._engine.start(spec)

    async def detach(self, compute_id: int) -> None:
        await self._engine.delete(compute_id)

    async def hearers(self, sender: Port, mac: str | None = None) -> set[Port]:
        own = mac_of(self._specs[sender.compute_id], sender.number)
        return await self._engine.hearers(sender, mac or own)

    def place(self, spec: InstanceSpec, *places: Place | None) -> InstanceSpec:
        return _placed(spec, places)

    async def arrival(self, sender: Port, source: str, target: str) -> Arrival | None:
        found = await self._engine.arrival(sender, source, target)
        if found is None:
            return None
        vpcs = [self._vpc(port) for port in (sender, found.port)]
        packets = [Packet(source, target, "UDP", PORT, vpcs[0])]
        if vpcs[0] is not None and vpcs[0] != vpcs[1]:
            packets.append(Packet(found.source, target, "UDP", PORT))
        judged = [await self.firewalls.passes(packet) for packet in packets]
        return found if all(judged) else None

    def _vpc(self, port: Port) -> int | None:
        link = self._specs[port.compute_id].links[port.number]
        return link.vpc_id if isinstance(link, VpcLink) else None

    def public(self, number: int) -> str:
        return str(Pools(0).ipv4.network[number])

    async def close(self) -> None:
        await self._engine.close()
        await self.firewalls.close()


@dataclass(frozen=True)
class _Device:
    spec: InstanceSpec
    descriptors: list[int]


class RealSegments:
    """`beside`: another host of the same region, whose guests are heard as well.

    `patience`: seconds that a packet may take.
    """

    def __init__(
        self,
        state_dir: Path,
        beside: "RealSegments | None" = None,
        patience: float = 0.0,
        private: tuple[IPv4Network, ...] = (),
        uplink: Uplink = "none",
    ) -> None:
        self._state_dir = state_dir
        self._patience = patience
        self.pools: Pools = claim_pools() if beside is None else beside.pools
        self._config = NetworkConfig((self.pools.ipv4,), self.pools.ipv6, private, uplink=uplink)
        self.network = GuestNetwork(state_dir, self._config)
        self.firewalls = NftablesFirewalls(state_dir, self._config)
        self._devices: dict[int, _Device] = {} if beside is None else beside._devices
        self._numbers: Iterator[int] = itertools.count(1) if beside is None else beside._numbers

    def guest(self, compute_id: int, *vlans: int | None) -> InstanceSpec:
        return _guest(self.pools, compute_id, vlans)

    async def attach(self, spec: InstanceSpec) -> None:
        descriptors = await self.network.attach(spec)
        for descriptor in descriptors:
            os.set_blocking(descriptor, False)
        self._devices[spec.id] = _Device(spec, descriptors)
        for held in spec.ipv4 if PublicLink() in spec.links else ():
            address = held.interface.ip
            place = (str(address), "lladdr", spec.mac, "dev", "br0", "nud", "permanent")
            output("ip", "-n", self.network.name, "neigh", "replace", *place)
            hello = Sender(spec.mac, address, _LINK_LOCAL).arp(b"hello")
            at = spec.links.index(PublicLink())
            os.write(descriptors[at], bytes(_HEADER_BYTES) + hello)

    async def detach(self, compute_id: int) -> None:
        device = self._devices.pop(compute_id, None)
        for descriptor in [] if device is None else device.descriptors:
            os.close(descriptor)
        await self.network.release(compute_id)

    async def hearers(self, sender: Port, mac: str | None = None) -> set[Port]:
        """Nobody else may hear it: neither the gateway nor the host."""
        device = self._devices[sender.compute_id]
        own = Sender(mac or mac_of(device.spec, sender.number), _ANY, _LINK_LOCAL)
        tag = b"frame %d." % next(self._numbers)
        gateway, host = await within(self.network.name, _listen), _listen()
        try:
            for frame in (own.udp(tag), own.udp6(tag), own.arp(tag), own.router_advertisement(tag)):
                os.write(device.descriptors[sender.number], bytes(_HEADER_BYTES) + frame)
            heard = {
                Port(each.spec.id, number)
                for each in self._devices.values()
                for number, descriptor in enumerate(each.descriptors)
                if tag in received(descriptor)
            }
            assert tag not in received(gateway.fileno())
            assert tag not in received(host.fileno())
            return heard
        finally:
            gateway.close()
            host.close()

    def place(self, spec: InstanceSpec, *places: Place | None) -> InstanceSpec:
        return _placed(spec, places)

    async def arrival(
        self, sender: Port, source: str, target: str, size: int = 0
    ) -> Arrival | None:
        """The tag comes back with the answer, to the address that sent it first.

        `size`: bytes of the tag at least.
        """
        number = next(self._numbers)
        tag, own_port = (b"packet %d." % number).ljust(size, b"."), 5000 + number
        seen = self._send(sender, Packet(source, target, "UDP", PORT), tag, own_port)
        if seen is None:
            return None
        port, packet = seen
        came_from, went_to = (str(IPv4Address(packet[at : at + 4])) for at in (12, 16))
        back = self._send(port, Packet(went_to, came_from, "UDP", own_port), tag + b"!", PORT)
        assert back is not None, "the answer was lost"
        assert back[0] == sender
        assert str(IPv4Address(back[1][12:16])) == target
        return Arrival(port, came_from)

    def _send(
        self, sender: Port, packet: Packet, tag: bytes, port: int
    ) -> tuple[Port, bytes] | None:
        self._write(sender, packet, tag, port)
        deadline = time.monotonic() + self._patience
        while not (heard := self._arrived(tag)) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        assert len(heard) <= 1, "somebody else heard it too"
        return heard[0] if heard else None

    def _write(self, sender: Port, packet: Packet, tag: bytes, port: int) -> None:
        device = self._devices[sender.compute_id]
        kind, body = ip_packet(packet, tag, port)
        frame = _mac(self._gateway(device.spec, sender.number))
        frame += _mac(mac_of(device.spec, sender.number)) + struct.pack("!H", kind) + body
        os.write(device.descriptors[sender.number], bytes(_HEADER_BYTES) + frame)

    def _arrived(self, tag: bytes) -> list[tuple[Port, bytes]]:
        return [
            (Port(each.spec.id, number), packet)
            for each in self._devices.values()
            for number, descriptor in enumerate(each.descriptors)
            for packet in list(_packets(descriptor))
            if tag in packet and packet[9] == _UDP
        ]

    def asks(self, sender: Port, own: IPv4Address, target: IPv4Address) -> str | None:
        """The MAC address that the network answers with when a guest asks for an address."""
        device = self._devices[sender.compute_id]
        asking = Sender(mac_of(device.spec, sender.number), own, _LINK_LOCAL)
        os.write(
            device.descriptors[sender.number], bytes(_HEADER_BYTES) + asking.arp_request(target)
        )
        answers = received(device.descriptors[sender.number])
        before, found, _ = answers.partition(_ARP_REPLY)
        sender_mac = answers[len(before) + len(found) :][:6]
        return sender_mac.hex(":") if found else None

    def says(self, sender: Port, tag: bytes) -> None:
        """To everybody who hears it."""
        device = self._devices[sender.compute_id]
        own = Sender(mac_of(device.spec, sender.number), _ANY, _LINK_LOCAL)
        os.write(device.descriptors[sender.number], bytes(_HEADER_BYTES) + own.udp(tag))

    def sends(
        self, sender: Port, source: str, target: str, tag: bytes = b"", port: int = PORT
    ) -> None:
        """A packet, whatever becomes of it."""
        self._write(sender, Packet(source, target, "UDP", port), tag, PORT)

    def heard(self, tag: bytes) -> set[Port]:
        """Who hears this while patience lasts."""
        deadline, found = time.monotonic() + self._patience, set[Port]()
        while time.monotonic() < deadline:
            for each in self._devices.values():
                for number, descriptor in enumerate(each.descriptors):
                    if tag in received(descriptor):
                        found.add(Port(each.spec.id, number))
            time.sleep(_POLL_SECONDS)
        return found

    def _gateway(self, spec: InstanceSpec, number: int) -> str:
        """Its MAC address."""
        link = spec.links[number]
        assert not isinstance(link, VlanLink)
        if isinstance(link, PublicLink):
            return bridge_mac(self._config)
        return gateway_mac(link.subnet_id)

    def public(self, number: int) -> str:
        return str(self.pools.ipv4.network[number])

    def crash(self, compute_id: int) -> None:
        """The guest's QEMU is gone, and nobody was told."""
        for descriptor in self._devices.pop(compute_id).descriptors:
            os.close(descriptor)

    def bridges(self) -> set[str]:
        """Of VLANs."""
        links = output("ip", "-n", vlans_name(self._state_dir), "-brief", "link").split()
        return {name for name in links if name.startswith("vlan")}

    async def close(self) -> None:
        for compute_id in list(self._devices):
            await self.detach(compute_id)
        await self.network.tear_down()


def _packets(descriptor: int) -> Iterator[bytes]:
    """IPv4 packets that came since the last call."""
    while True:
        try:
            frame = os.read(descriptor, 65_536)[_HEADER_BYTES:]
        except BlockingIOError:
            return
        if frame[12:14] == b"\x08\x00":
            yield frame[14:]


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def received(descriptor: int) -> bytes:
    """All that came since the last call."""
    data = b""
    while True:
        try:
            data += os.read(descriptor, 65_536)
        except BlockingIOError:
            return data


def _listen() -> socket.socket:
    """What any device of the namespace hears."""
    kind = socket.htons(_ALL_PROTOCOLS)
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, kind)
    listener.setblocking(False)
    return listener


def open_segments(kind: str, state_dir: Path) -> SegmentHarness:
    return SimulatedSegments(state_dir) if kind == "simulated" else RealSegments(state_dir)
