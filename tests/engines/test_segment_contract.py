"""What every engine owes VLANs: one segment each, which nobody else hears."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.network.config import vlans_name
from roost.engines.simulated.segments import Port
from tests.engines.qemu_host import output
from tests.engines.segment_harness import RealSegments, SegmentHarness, mac_of, open_segments

pytestmark = pytest.mark.spec("B networking 1 interfaces")

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
_REAL = pytest.param("qemu", marks=[pytest.mark.qemu, NEEDS_ROOT])
BLUE, RED = 7, 2**36
FIRST, SECOND, THIRD, FOURTH = 100_001, 100_002, 100_003, 100_004


@pytest_asyncio.fixture(params=["simulated", _REAL])
async def harness(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SegmentHarness]:
    harness = open_segments(request.param, tmp_path)
    yield harness
    await harness.close()


async def start(harness: SegmentHarness, compute_id: int, *vlans: int | None) -> None:
    await harness.attach(harness.guest(compute_id, *vlans))


async def test_a_vlan_is_heard_by_those_in_it(harness: SegmentHarness) -> None:
    """And by no other VLAN, nor by public interfaces, the gateway or the host."""
    await start(harness, FIRST, BLUE, None)
    await start(harness, SECOND, None, RED, BLUE)
    await start(harness, THIRD, RED)
    await start(harness, FOURTH, None)
    assert await harness.hearers(Port(FIRST, 0)) == {Port(SECOND, 2)}
    assert await harness.hearers(Port(SECOND, 2)) == {Port(FIRST, 0)}
    assert await harness.hearers(Port(SECOND, 1)) == {Port(THIRD, 0)}


async def test_nobody_takes_the_mac_address_of_another(harness: SegmentHarness) -> None:
    await start(harness, FIRST, BLUE)
    await start(harness, SECOND, BLUE)
    other = mac_of(harness.guest(SECOND, BLUE), 0)
    assert await harness.hearers(Port(FIRST, 0), mac=other) == set()
    assert await harness.hearers(Port(FIRST, 0)) == {Port(SECOND, 0)}


async def test_who_leaves_hears_nothing(harness: SegmentHarness) -> None:
    await start(harness, FIRST, BLUE)
    await start(harness, SECOND, BLUE)
    await harness.detach(SECOND)
    await harness.detach(SECOND)
    assert await harness.hearers(Port(FIRST, 0)) == set()
    await start(harness, SECOND, RED)
    assert await harness.hearers(Port(FIRST, 0)) == set()
    await harness.detach(SECOND)
    await start(harness, SECOND, RED, BLUE)
    assert await harness.hearers(Port(FIRST, 0)) == {Port(SECOND, 1)}


@pytest.fixture
async def real(tmp_path: Path) -> AsyncIterator[RealSegments]:
    harness = RealSegments(tmp_path)
    yield harness
    await harness.close()


@pytest.mark.qemu
@NEEDS_ROOT
async def test_bridges_go_with_the_last_guest(real: RealSegments, tmp_path: Path) -> None:
    await start(real, FIRST, BLUE)
    await start(real, SECOND, BLUE, RED)
    assert real.bridges() == {f"vlan{BLUE}", f"vlan{RED}"}
    await real.detach(SECOND)
    assert real.bridges() == {f"vlan{BLUE}"}
    await real.close()
    assert vlans_name(tmp_path) not in output("ip", "netns")
    await real.network.ensure()


@pytest.mark.qemu
@NEEDS_ROOT
async def test_a_host_that_lost_its_vlans_gets_them_again(
    real: RealSegments, tmp_path: Path
) -> None:
    await start(real, FIRST, BLUE)
    output("ip", "netns", "delete", vlans_name(tmp_path))
    await start(real, SECOND, BLUE)
    await start(real, THIRD, BLUE)
    assert await real.hearers(Port(SECOND, 0)) == {Port(THIRD, 0)}
