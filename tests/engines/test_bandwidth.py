"""What a guest sends beyond its plan's rate is dropped, and nothing of what others send."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.network.config import NetworkConfig, tap_name
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.network.shaping import queue_of
from tests.engines.harness import Pools, claim_pools
from tests.engines.qemu_host import output
from tests.engines.stacks import Stack

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

SLOW, PORT = 1, 7000
"""Mbit/s"""
_SIZE, _COUNT = 1000, 5000
"""Of datagrams, sent as fast as a guest can."""
_BURST = 512 * 1024
_SO_RCVBUFFORCE = 33


class Region:
    """A guest with a slow plan, and one with a fast one."""

    def __init__(self, state_dir: Path, pools: Pools) -> None:
        self.network = GuestNetwork(state_dir, NetworkConfig((pools.ipv4,), pools.ipv6))
        slow, fast = (pools.spec(number) for number in (100_001, 100_002))
        self.slow = Stack(self.network, replace(slow, network_out=SLOW))
        self.fast = Stack(self.network, replace(fast, network_out=12_000))

    def queues(self) -> str:
        return output("tc", "-n", self.network.name, "qdisc", "show")

    async def close(self) -> None:
        self.slow.close()
        self.fast.close()
        await self.network.tear_down()


@pytest_asyncio.fixture
async def region(tmp_path: Path) -> AsyncIterator[Region]:
    region = Region(tmp_path, claim_pools())
    try:
        await region.slow.boot()
        await region.fast.boot()
        yield region
    finally:
        await region.close()


def _listen() -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 16 * 1024 * 1024)
    found.bind(("0.0.0.0", PORT))
    found.settimeout(1.0)
    return found


def _send(address: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(_COUNT):
            sender.sendto(bytes(_SIZE), (address, PORT))


async def sent(source: Stack, target: Stack) -> int:
    """Bytes that arrive of those that one guest sends to another one."""
    address = str(target.spec.ipv4[0].interface.ip)
    with await target.run(_listen) as listener:
        await source.run(partial(_send, address))
        found = 0
        with suppress(TimeoutError):
            while data := listener.recv(2 * _SIZE):
                found += len(data)
    return found


async def test_more_than_the_rate_is_dropped(region: Region) -> None:
    """A burst arrives, and what the rate allows in the moment of sending."""
    slow, fast = await sent(region.slow, region.fast), await sent(region.fast, region.slow)
    assert _BURST / 2 < slow < _SIZE * _COUNT / 2
    assert fast > slow


async def test_a_rate_of_a_plan(region: Region) -> None:
    shown = region.queues()
    for stack, rate in ((region.slow, "1Mbit"), (region.fast, "12Gbit")):
        queue = queue_of(tap_name(stack.spec.id))
        (line,) = (each for each in shown.splitlines() if f"dev {queue} " in each)
        assert " tbf " in line
        assert f"rate {rate}" in line


async def test_a_guest_that_comes_back_has_another_rate(region: Region) -> None:
    region.slow.close()
    region.slow = Stack(region.network, replace(region.slow.spec, network_out=100))
    await region.slow.boot()
    assert "rate 100Mbit" in region.queues()
    assert "rate 1Mbit" not in region.queues()


async def test_a_deleted_guest_leaves_no_queue(region: Region) -> None:
    spec = replace(region.slow.spec, id=100_003)
    for tap in await region.network.attach(spec):
        os.close(tap)
    assert queue_of(tap_name(spec.id)) in region.queues()
    for _ in range(2):
        await region.network.release(spec.id)
    assert queue_of(tap_name(spec.id)) not in region.queues()
