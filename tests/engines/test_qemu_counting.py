"""Bytes of guests are counted by the packet filter, once each, for as long as a guest exists."""

import os
from collections.abc import AsyncIterator
from ipaddress import IPv4Network
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import Traffic
from tests.engines.frames import Sender
from tests.engines.harness import claim_pools, until

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

_HEADER = bytes(10)
"""What the kernel puts before each frame of a device with offloads."""
_OUT = 20 + 8 + 100
"""Bytes of a packet over UDP with a load of 100."""


@pytest_asyncio.fixture
async def network(tmp_path: Path) -> AsyncIterator[GuestNetwork]:
    pools = claim_pools()
    network = GuestNetwork(tmp_path, NetworkConfig((pools.ipv4,), pools.ipv6))
    yield network
    await network.tear_down()


@pytest.fixture
def spec() -> InstanceSpec:
    return claim_pools().spec(100_001)


def sender(spec: InstanceSpec) -> Sender:
    assert spec.ipv6 is not None
    return Sender(spec.mac, spec.ipv4[0].interface.ip, spec.ipv6.ip)


async def counted(network: GuestNetwork, spec: InstanceSpec, out: int) -> Traffic:
    """What is counted as soon as so many bytes were sent."""

    async def read() -> Traffic:
        return (await network.traffic()).get(spec.id, Traffic())

    return await until(read, lambda seen: seen.ipv4_out + seen.private_out == out)


async def test_what_a_guest_sends(network: GuestNetwork, spec: InstanceSpec) -> None:
    [device] = await network.attach(spec)
    os.write(device, _HEADER + sender(spec).udp(bytes(100)))
    seen = await counted(network, spec, _OUT)
    assert (seen.ipv4_out, seen.private_out, seen.ipv6_out) == (_OUT, 0, 0)
    os.close(device)


async def test_a_spoofed_packet_is_not_counted(network: GuestNetwork, spec: InstanceSpec) -> None:
    [device] = await network.attach(spec)
    other = claim_pools().spec(100_002)
    os.write(device, _HEADER + sender(other).udp(bytes(300)))
    os.write(device, _HEADER + sender(spec).udp(bytes(100)))
    await counted(network, spec, _OUT)
    os.close(device)


async def test_private_traffic_is_apart(tmp_path: Path, spec: InstanceSpec) -> None:
    pools = claim_pools()
    config = NetworkConfig((pools.ipv4,), pools.ipv6, (IPv4Network("255.255.255.0/24"),))
    network = GuestNetwork(tmp_path, config)
    [device] = await network.attach(spec)
    os.write(device, _HEADER + sender(spec).udp(bytes(100)))
    seen = await counted(network, spec, _OUT)
    assert (seen.ipv4_out, seen.private_out) == (0, _OUT)
    os.close(device)
    await network.tear_down()


async def test_counters_outlive_the_device(network: GuestNetwork, spec: InstanceSpec) -> None:
    """What was sent before a reboot is not lost, and only a deleted guest is forgotten."""
    for sent in (1, 2):
        [device] = await network.attach(spec)
        os.write(device, _HEADER + sender(spec).udp(bytes(100)))
        await counted(network, spec, sent * _OUT)
        os.close(device)
        await network.ensure()
    await network.release(spec.id)
    assert await network.traffic() == {}
    await network.release(spec.id)


async def test_another_network_is_another_epoch(network: GuestNetwork, spec: InstanceSpec) -> None:
    epochs = set[str]()
    for _ in range(2):
        [device] = await network.attach(spec)
        os.close(device)
        epochs.add((await network.traffic())[spec.id].epoch)
        await network.tear_down()
        assert await network.traffic() == {}
    assert len(epochs) == 2
