"""What the contract suite needs from an engine under test besides the Protocol itself."""

import asyncio
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Interface, IPv6Address, IPv6Interface
from pathlib import Path
from typing import Protocol, TypeVar

from roost.clock import Clock
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.compute.engine import (
    GuestAddress,
    GuestSetup,
    InstanceEngine,
    InstanceSpec,
)

_Value = TypeVar("_Value")
_POLL_SECONDS = 0.05


async def until(
    read: Callable[[], Awaitable[_Value]], holds: Callable[[_Value], bool], seconds: float = 30.0
) -> _Value:
    """The first value of `read` that `holds`; TimeoutError after so many seconds."""
    async with asyncio.timeout(seconds):
        while True:
            if holds(value := await read()):
                return value
            await asyncio.sleep(_POLL_SECONDS)


class Harness(Protocol):
    """One engine with its own state directory and address pools."""

    @property
    def engine(self) -> InstanceEngine: ...

    def spec(self, compute_id: int) -> InstanceSpec:
        """A small guest."""

    def reopen(self) -> InstanceEngine:
        """Another engine object over the same state, as after a restart or in a worker."""

    async def crash(self, compute_id: int) -> None:
        """Let a running guest die without a word."""

    async def remains(self, compute_id: int) -> list[str]:
        """What is left on the host of a guest."""


def slaac(network: IPv6Interface, mac: str) -> IPv6Interface:
    """The address that a guest gives itself from its MAC address (RFC 4291, EUI-64)."""
    octets = bytes.fromhex(mac.replace(":", ""))
    suffix = bytes([octets[0] ^ 2]) + octets[1:3] + b"\xff\xfe" + octets[3:]
    prefix = network.network.network_address.packed[:8]
    return IPv6Interface((IPv6Address(prefix + suffix), network.network.prefixlen))


def small_spec(
    compute_id: int, image: str | None, ipv4: IPv4Interface, ipv6: IPv6Interface
) -> InstanceSpec:
    """A guest with the `compute_id`th address of the pools whose gateways are given."""
    index = compute_id % 100 + 10
    mac = f"f2:3c:00:00:{ipv4.network.network_address.packed[2]:02x}:{index:02x}"
    address = IPv4Interface((ipv4.network.network_address + index, ipv4.network.prefixlen))
    return InstanceSpec(
        id=compute_id,
        vcpus=1,
        memory=128,
        disk=64,
        swap=16,
        image=image,
        mac=mac,
        ipv4=(GuestAddress(address, ipv4.ip),),
        ipv6=slaac(ipv6, mac),
        setup=GuestSetup(f"guest{compute_id}", None, (), None),
    )


class SimulatedHarness:
    """Transitions take a moment, so that tests can catch the engine in between."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self.engine = self.reopen()

    def spec(self, compute_id: int) -> InstanceSpec:
        return small_spec(
            compute_id,
            "roost/debian12",
            IPv4Interface("198.18.0.1/24"),
            IPv6Interface("2001:db8:100::1/64"),
        )

    def reopen(self) -> SimulatedInstances:
        return SimulatedInstances(self._state_dir, latency=0.05, clock=Clock())

    async def crash(self, compute_id: int) -> None:
        await self.engine.crash(compute_id)

    async def remains(self, compute_id: int) -> list[str]:
        return [str(state.id) for state in await self.engine.list() if state.id == compute_id]
