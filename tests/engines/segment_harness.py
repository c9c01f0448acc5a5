"""What the contract suite of VLANs asks: who hears this frame?

The real harness writes frames to the guests' devices and looks at what comes out of the others, of
the gateway and of the host.
"""

import itertools
import os
import socket
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Protocol

from roost.clock import Clock
from roost.engines.qemu.network.config import NetworkConfig, vlans_name
from roost.engines.qemu.network.namespace import within
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.segments import Port
from roost.resources.compute.engine import InstanceSpec, Link, PublicLink, VlanLink
from roost.resources.compute.rules import side_mac_address
from tests.engines.frames import Sender
from tests.engines.harness import Pools, claim_pools
from tests.engines.qemu_host import output

_HEADER_BYTES = 10
_ALL_PROTOCOLS = 3
_ANY = IPv4Address("198.51.100.7")


class SegmentHarness(Protocol):
    """Guests of one region, of which only the network matters."""

    def guest(self, compute_id: int, *vlans: int | None) -> InstanceSpec:
        """One with interfaces to these VLANs, None for the public one."""

    async def attach(self, spec: InstanceSpec) -> None:
        """The guest runs."""

    async def detach(self, compute_id: int) -> None:
        """The guest goes away."""

    async def hearers(self, sender: Port, mac: str | None = None) -> set[Port]:
        """Who gets a frame to everybody; from the interface's own MAC address, if none is given."""

    async def close(self) -> None: ...


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

    async def close(self) -> None:
        await self._engine.close()


@dataclass(frozen=True)
class _Device:
    spec: InstanceSpec
    descriptors: list[int]


class RealSegments:
    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self._pools = claim_pools()
        config = NetworkConfig((self._pools.ipv4,), self._pools.ipv6)
        self.network = GuestNetwork(state_dir, config)
        self._devices: dict[int, _Device] = {}
        self._numbers = itertools.count(1)

    def guest(self, compute_id: int, *vlans: int | None) -> InstanceSpec:
        return _guest(self._pools, compute_id, vlans)

    async def attach(self, spec: InstanceSpec) -> None:
        descriptors = await self.network.attach(spec)
        for descriptor in descriptors:
            os.set_blocking(descriptor, False)
        self._devices[spec.id] = _Device(spec, descriptors)

    async def detach(self, compute_id: int) -> None:
        device = self._devices.pop(compute_id, None)
        for descriptor in [] if device is None else device.descriptors:
            os.close(descriptor)
        await self.network.release(compute_id)

    async def hearers(self, sender: Port, mac: str | None = None) -> set[Port]:
        """Nobody else may hear it: neither the gateway nor the host."""
        device = self._devices[sender.compute_id]
        own = Sender(mac or mac_of(device.spec, sender.number), _ANY, IPv6Address("fe80::7"))
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

    def bridges(self) -> set[str]:
        """Of VLANs."""
        links = output("ip", "-n", vlans_name(self._state_dir), "-brief", "link").split()
        return {name for name in links if name.startswith("vlan")}

    async def close(self) -> None:
        for compute_id in list(self._devices):
            await self.detach(compute_id)
        await self.network.tear_down()


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
