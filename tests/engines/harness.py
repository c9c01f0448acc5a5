"""What the contract suite needs from an engine under test besides the Protocol itself."""

import json
import socket
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Address, IPv6Interface
from pathlib import Path
from typing import Protocol, TypeVar

from roost.clock import Clock
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.volumes import SimulatedVolumes
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.engine import (
    Counters,
    DiskDevice,
    GuestSetup,
    InstanceEngine,
    InstanceSpec,
)
from roost.resources.compute.network_engine import GuestAddress
from roost.resources.volumes.engine import VolumeEngine
from tests.support.client import until as ask_until

_Value = TypeVar("_Value")
_POLL_SECONDS = 0.05
_claims: list[socket.socket] = []


async def until(
    read: Callable[[], Awaitable[_Value]], holds: Callable[[_Value], bool], seconds: float = 120.0
) -> _Value:
    """The first value of `read` that `holds`; TimeoutError after so many seconds."""
    return await ask_until(read, holds, seconds, _POLL_SECONDS)


async def counters_of(engine: InstanceEngine, compute_id: int) -> Counters | None:
    """None while the guest is offline."""
    return (await engine.counters()).get(compute_id)


class Harness(Protocol):
    """The engines of one region with its own state directory and address pools."""

    image: str | None
    """What small guests start as."""

    @property
    def engine(self) -> InstanceEngine: ...

    @property
    def volumes(self) -> VolumeEngine: ...

    def spec(self, compute_id: int) -> InstanceSpec:
        """A small guest that boots from the disk of `root_disk`."""

    def reopen(self) -> InstanceEngine:
        """Another engine object over the same state, as after a restart or in a worker."""

    def reopen_volumes(self) -> VolumeEngine:
        """The same for volumes."""

    async def write_disk(self, disk: DiskSpec, mark: str) -> None:
        """Change what is on a disk without a file system, whose guest is off."""

    async def fill_disk(self, disk: DiskSpec, size: int) -> None:
        """Let a disk hold so many MB that are not zeros."""

    async def read_disk(self, disk: DiskSpec) -> str:
        """The last mark that was written to the disk, or to what it is a copy of; or ""."""

    async def write_volume(self, volume_id: int, mark: str) -> None:
        """Change what is on a volume."""

    async def read_volume(self, volume_id: int) -> str:
        """The last mark that was written to the volume, or to what it is a copy of; or ""."""

    async def crash(self, compute_id: int) -> None:
        """Let a running guest die without a word."""

    async def remains(self, compute_id: int) -> list[str]:
        """What is left on the host of a guest."""


@dataclass(frozen=True, slots=True)
class Pools:
    """Gateways of a /24 for benchmarks (RFC 2544) and a /64 for documentation (RFC 3849)."""

    number: int

    @property
    def ipv4(self) -> IPv4Interface:
        return IPv4Interface(f"198.{18 + self.number // 256}.{self.number % 256}.1/24")

    @property
    def ipv6(self) -> IPv6Interface:
        return IPv6Interface(f"2001:db8:{self.number:x}::1/64")

    def spec(self, compute_id: int) -> InstanceSpec:
        """A guest whose addresses follow from its id, and with it the id of its root disk."""
        index = compute_id % 200 + 10
        mac = f"f2:3c:00:00:{self.ipv4.packed[2]:02x}:{index:02x}"
        address = self.ipv4.network[index]
        return InstanceSpec(
            id=compute_id,
            vcpus=1,
            memory=128,
            mac=mac,
            ipv4=(GuestAddress(IPv4Interface((address, 24)), self.ipv4.ip),),
            ipv6=slaac(self.ipv6, mac),
            setup=GuestSetup(f"guest{compute_id}", None, (), None),
            devices=(DiskDevice("sda", compute_id),),
            root="sda",
        )


def root_disk(harness: Harness, compute_id: int) -> DiskSpec:
    """What a small guest boots from."""
    return DiskSpec(compute_id, compute_id, 64, "ext4", harness.image)


async def ignore(_percent: int) -> None:
    """Not interested in progress."""


def claim_pools() -> Pools:
    """Pools that no other test of this host uses while this process lives."""
    for number in range(512):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0roost-test-pools-{number}")
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        if not _is_routed(pools := Pools(number)):
            return pools
    raise RuntimeError("all address pools for tests are in use")


def _is_routed(pools: Pools) -> bool:
    """Whether a process that was killed has left its network on this host."""
    network = str(pools.ipv4.network)
    routes = ("ip", "-json", "route", "show", "root", network)
    return bool(json.loads(subprocess.run(routes, capture_output=True, check=True).stdout))


def slaac(network: IPv6Interface, mac: str) -> IPv6Interface:
    """The address that a guest gives itself from its MAC address (RFC 4291, EUI-64)."""
    octets = bytes.fromhex(mac.replace(":", ""))
    suffix = bytes([octets[0] ^ 2]) + octets[1:3] + b"\xff\xfe" + octets[3:]
    prefix = network.network.network_address.packed[:8]
    return IPv6Interface((IPv6Address(prefix + suffix), network.network.prefixlen))


class SimulatedHarness:
    """Transitions take a moment, so that tests can catch the engine in between."""

    image: str | None = "roost/debian12"

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self._pools = Pools(0)
        self.engine = self.reopen()
        self.volumes = self.reopen_volumes()

    def spec(self, compute_id: int) -> InstanceSpec:
        return self._pools.spec(compute_id)

    def reopen(self) -> SimulatedInstances:
        return SimulatedInstances(self._state_dir, latency=0.03, clock=Clock())

    def reopen_volumes(self) -> SimulatedVolumes:
        return SimulatedVolumes(self._state_dir, latency=0.03)

    async def write_disk(self, disk: DiskSpec, mark: str) -> None:
        await self.engine.disks.write(disk.compute_id, disk.id, mark)

    async def fill_disk(self, disk: DiskSpec, size: int) -> None:
        await self.engine.disks.write(disk.compute_id, disk.id, "much", size)

    async def read_disk(self, disk: DiskSpec) -> str:
        return _unless_empty(await self.engine.disks.read(disk.compute_id, disk.id))

    async def write_volume(self, volume_id: int, mark: str) -> None:
        await self.volumes.write(volume_id, mark)

    async def read_volume(self, volume_id: int) -> str:
        return await self.volumes.read(volume_id)

    async def crash(self, compute_id: int) -> None:
        await self.engine.crash(compute_id)

    async def remains(self, compute_id: int) -> list[str]:
        return [str(state.id) for state in await self.engine.list() if state.id == compute_id]


def _unless_empty(content: str) -> str:
    return "" if content.startswith("empty ") else content
