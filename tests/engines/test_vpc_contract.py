"""What every engine owes VPCs: packets of their guests, and of nobody else."""

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.network.config import vpc_name, vpc_names
from roost.engines.simulated.packets import Arrival
from roost.engines.simulated.segments import Port
from roost.resources.firewalls.engine import FirewallSpec, Rule, RuleSet
from tests.engines.qemu_host import output
from tests.engines.segment_harness import (
    PORT,
    Place,
    RealSegments,
    SegmentHarness,
    open_segments,
)

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
_REAL = pytest.param("qemu", marks=[pytest.mark.qemu, NEEDS_ROOT])
BLUE, BLUE_TOO, RED = 701, 702, 901
"""Subnets of two VPCs."""
FIRST, SECOND, THIRD, FOURTH = 100_001, 100_002, 100_003, 100_004


@pytest_asyncio.fixture(params=["simulated", _REAL])
async def harness(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SegmentHarness]:
    harness = open_segments(request.param, tmp_path)
    yield harness
    await harness.close()


async def start(harness: SegmentHarness, compute_id: int, *places: Place | None) -> None:
    await harness.attach(harness.place(harness.guest(compute_id, None), *places))


async def test_guests_of_a_vpc_reach_each_other(harness: SegmentHarness) -> None:
    """In one subnet and across; not what has the same addresses elsewhere, nor the public."""
    await start(harness, FIRST, Place(BLUE, "10.0.0.2/24"), None)
    await start(harness, SECOND, Place(BLUE, "10.0.0.3/24"))
    await start(harness, THIRD, Place(BLUE_TOO, "10.0.1.2/24"))
    await start(harness, FOURTH, Place(RED, "10.0.0.3/24"))
    first, second, third = (Port(each, 0) for each in (FIRST, SECOND, THIRD))
    assert await harness.arrival(first, "10.0.0.2", "10.0.0.3") == Arrival(second, "10.0.0.2")
    assert await harness.arrival(third, "10.0.1.2", "10.0.0.3") == Arrival(second, "10.0.1.2")
    assert await harness.arrival(second, "10.0.0.3", "10.0.1.2") == Arrival(third, "10.0.0.3")
    red = Port(FOURTH, 0)
    assert await harness.arrival(red, "10.0.0.3", "10.0.0.2") is None
    assert await harness.arrival(red, "10.0.0.3", "10.0.1.2") is None
    (public,) = harness.guest(FIRST, None).ipv4
    assert await harness.arrival(second, "10.0.0.3", str(public.interface.ip)) is None
    outside = Port(FIRST, 1)
    assert await harness.arrival(outside, str(public.interface.ip), "10.0.0.3") is None


async def test_nobody_speaks_for_another(harness: SegmentHarness) -> None:
    await start(harness, FIRST, Place(BLUE, "10.0.0.2/24", ranges=("10.0.0.64/28",)))
    await start(harness, SECOND, Place(BLUE, "10.0.0.3/24"))
    first, second = Port(FIRST, 0), Port(SECOND, 0)
    assert await harness.arrival(second, "10.0.0.4", "10.0.0.2") is None
    assert await harness.arrival(second, "10.0.0.64", "10.0.0.2") is None
    assert await harness.arrival(first, "10.0.0.64", "10.0.0.3") == Arrival(second, "10.0.0.64")


async def test_ranges_are_routed_to_their_guest(harness: SegmentHarness) -> None:
    ranges = ("10.0.0.64/28", "172.16.4.0/24")
    await start(harness, FIRST, Place(BLUE, "10.0.0.2/24", ranges=ranges))
    await start(harness, SECOND, Place(BLUE_TOO, "10.0.1.2/24"))
    second = Port(SECOND, 0)
    for target in ("10.0.0.79", "172.16.4.200"):
        found = await harness.arrival(second, "10.0.1.2", target)
        assert found == Arrival(Port(FIRST, 0), "10.0.1.2")
    assert await harness.arrival(second, "10.0.1.2", "10.0.0.80") is None


async def test_nat_goes_both_ways(harness: SegmentHarness) -> None:
    """To public guests, to those of other VPCs, within the VPC; and not without."""
    one, two = harness.public(100), harness.public(101)
    await start(harness, FIRST, Place(BLUE, "10.0.0.2/24", one))
    await start(harness, SECOND, Place(RED, "10.0.0.2/24", two))
    await start(harness, THIRD, None)
    await start(harness, FOURTH, Place(BLUE, "10.0.0.3/24"))
    (held,) = harness.guest(THIRD, None).ipv4
    public = str(held.interface.ip)
    first, second, third, fourth = (Port(each, 0) for each in (FIRST, SECOND, THIRD, FOURTH))
    assert await harness.arrival(third, public, one) == Arrival(first, public)
    assert await harness.arrival(first, "10.0.0.2", public) == Arrival(third, one)
    assert await harness.arrival(first, "10.0.0.2", two) == Arrival(second, one)
    assert await harness.arrival(fourth, "10.0.0.3", public) is None
    assert await harness.arrival(fourth, "10.0.0.3", two) is None
    assert await harness.arrival(third, public, "10.0.0.3") is None


async def test_an_address_that_changes_hands(harness: SegmentHarness) -> None:
    public = harness.public(100)
    await start(harness, FIRST, Place(BLUE, "10.0.0.2/24", public))
    await start(harness, THIRD, None)
    (held,) = harness.guest(THIRD, None).ipv4
    source = str(held.interface.ip)
    await harness.detach(FIRST)
    await harness.detach(FIRST)
    third = Port(THIRD, 0)
    assert await harness.arrival(third, source, public) is None
    await start(harness, SECOND, Place(BLUE, "10.0.0.2/24"))
    assert await harness.arrival(third, source, public) is None
    await start(harness, FOURTH, Place(RED, "10.9.0.2/24", public))
    found = await harness.arrival(third, source, public)
    assert found == Arrival(Port(FOURTH, 0), source)


def behind(*pairs: tuple[int, str], allowed: str = "10.0.0.3/32") -> FirewallSpec:
    """A firewall that lets in what comes from `allowed` only, and out all but to 172.16.0.0/12."""
    inbound = (Rule("ACCEPT", "UDP", ((PORT, PORT),), (allowed,)),)
    outbound = (Rule("DROP", "UDP", (), ("172.16.0.0/12",)),)
    rules = RuleSet(inbound, "DROP", outbound, "ACCEPT")
    return FirewallSpec(7, rules, frozenset({"198.51.100.77"}), frozenset(pairs))


async def fits(harness: SegmentHarness, firewall: FirewallSpec) -> bool:
    """Whether it is all that there is."""
    listed = await harness.firewalls.list()
    assert await harness.firewalls.inspect(firewall.id) == listed[0]
    return [state.fits(firewall) for state in listed] == [True]


@pytest.mark.spec("B networking 1 interfaces")
async def test_firewalls_filter_inside(harness: SegmentHarness) -> None:
    """From the first packet on, by the addresses inside, what is routed to a guest too; the same
    addresses of another VPC are others."""
    one = harness.public(100)
    vpc = BLUE // 100
    firewall = behind((vpc, "10.0.0.2"), (vpc, "10.0.0.64/28"), (vpc, one))
    await harness.firewalls.apply(firewall)
    assert await fits(harness, firewall)
    await start(harness, FIRST, Place(BLUE, "10.0.0.2/24", one, ("10.0.0.64/28",)))
    await start(harness, SECOND, Place(BLUE, "10.0.0.3/24"))
    await start(harness, THIRD, Place(BLUE_TOO, "10.0.1.2/24", ranges=("172.16.4.0/24",)))
    await start(harness, FOURTH, Place(RED, "10.0.0.2/24"))
    assert await fits(harness, firewall)
    first, second, third = (Port(each, 0) for each in (FIRST, SECOND, THIRD))
    for target in ("10.0.0.2", "10.0.0.65", one):
        assert await harness.arrival(second, "10.0.0.3", target) == Arrival(first, "10.0.0.3")
        assert await harness.arrival(third, "10.0.1.2", target) is None
    assert await harness.arrival(first, "10.0.0.2", "10.0.1.2") == Arrival(third, "10.0.0.2")
    for source in ("10.0.0.2", "10.0.0.65"):
        assert await harness.arrival(first, source, "172.16.4.9") is None
    assert await harness.arrival(second, "10.0.0.3", "172.16.4.9") == Arrival(third, "10.0.0.3")
    other = behind((vpc, "10.0.0.2"), allowed="10.0.1.2/32")
    await harness.firewalls.apply(other)
    assert await fits(harness, other)
    assert await harness.arrival(second, "10.0.0.3", "10.0.0.2") is None
    for target in ("10.0.0.2", "10.0.0.65"):
        assert await harness.arrival(third, "10.0.1.2", target) == Arrival(first, "10.0.1.2")
    await harness.firewalls.remove(firewall.id)
    assert await harness.firewalls.list() == []
    assert await harness.arrival(second, "10.0.0.3", "10.0.0.2") == Arrival(first, "10.0.0.3")


async def test_an_address_inside_changes_firewalls(harness: SegmentHarness) -> None:
    vpc = BLUE // 100
    await start(harness, FIRST, Place(BLUE, "10.0.0.2/24"))
    await start(harness, SECOND, Place(BLUE, "10.0.0.3/24"))
    await harness.firewalls.apply(behind((vpc, "10.0.0.2"), allowed="10.9.9.9/32"))
    first, second = Port(FIRST, 0), Port(SECOND, 0)
    assert await harness.arrival(second, "10.0.0.3", "10.0.0.2") is None
    open_too = replace(behind((vpc, "10.0.0.2")), id=8, addresses=frozenset({"198.51.100.78"}))
    await harness.firewalls.apply(open_too)
    assert await harness.arrival(second, "10.0.0.3", "10.0.0.2") == Arrival(first, "10.0.0.3")


@pytest.fixture
async def real(tmp_path: Path) -> AsyncIterator[RealSegments]:
    harness = RealSegments(tmp_path)
    yield harness
    await harness.close()


@pytest.mark.qemu
@NEEDS_ROOT
async def test_a_vpc_goes_with_its_last_guest(real: RealSegments, tmp_path: Path) -> None:
    await start(real, FIRST, Place(BLUE, "10.0.0.2/24"))
    await start(real, SECOND, Place(RED, "10.0.0.2/24"))
    assert len(vpc_names(tmp_path)) == 2
    await real.detach(FIRST)
    assert [name.rpartition("-")[2] for name in vpc_names(tmp_path)] == [f"vpc{RED // 100}"]
    assert f"vpc{BLUE // 100}@" not in output("ip", "-n", real.network.name, "link")
    await real.close()
    assert vpc_names(tmp_path) == []
    await real.network.ensure()


@pytest.mark.qemu
@NEEDS_ROOT
async def test_what_a_guest_left_that_went_off_is_undone(real: RealSegments) -> None:
    """As after a crash: its device is gone, its addresses are another's."""
    public = real.public(100)
    await start(real, FIRST, Place(BLUE, "10.0.0.2/24", public, ("10.0.0.64/28",)))
    real.crash(FIRST)
    await start(real, THIRD, None)
    (held,) = real.guest(THIRD, None).ipv4
    source = str(held.interface.ip)
    await start(real, SECOND, Place(BLUE, "10.0.0.2/24"))
    assert await real.arrival(Port(THIRD, 0), source, public) is None
    await start(real, FOURTH, Place(BLUE_TOO, "10.0.1.2/24"))
    assert await real.arrival(Port(FOURTH, 0), "10.0.1.2", "10.0.0.65") is None
    found = await real.arrival(Port(FOURTH, 0), "10.0.1.2", "10.0.0.2")
    assert found == Arrival(Port(SECOND, 0), "10.0.1.2")


@pytest.mark.qemu
@NEEDS_ROOT
async def test_a_host_that_lost_its_vpcs_gets_them_again(
    real: RealSegments, tmp_path: Path
) -> None:
    await start(real, FIRST, Place(BLUE, "10.0.0.2/24", real.public(100)))
    (name,) = vpc_names(tmp_path)
    real.crash(FIRST)
    output("ip", "netns", "delete", name)
    await start(real, FIRST, Place(BLUE, "10.0.0.2/24", real.public(100)))
    await start(real, SECOND, Place(BLUE, "10.0.0.3/24"))
    output("ip", "-n", real.network.name, "link", "delete", f"vpc{BLUE // 100}")
    await start(real, THIRD, None)
    await start(real, FOURTH, Place(BLUE, "10.0.0.4/24"))
    found = await real.arrival(Port(FIRST, 0), "10.0.0.2", "10.0.0.3")
    assert found == Arrival(Port(SECOND, 0), "10.0.0.2")


@pytest.mark.qemu
@NEEDS_ROOT
@pytest.mark.parametrize(
    "harm",
    [
        "nft flush ruleset",
        "nft flush chain inet roost forward",
        "nft flush chain inet roost fw7_in4",
        "nft delete element inet roost in4 {10.0.0.2}",
    ],
)
async def test_a_firewall_that_is_lost_inside_shows_and_is_mended(
    real: RealSegments, tmp_path: Path, harm: str
) -> None:
    vpc = BLUE // 100
    firewall = behind((vpc, "10.0.0.2"), allowed="10.9.9.9/32")
    await start(real, FIRST, Place(BLUE, "10.0.0.2/24"))
    await start(real, SECOND, Place(BLUE, "10.0.0.3/24"))
    await real.firewalls.apply(firewall)
    inside = f"--net=/run/netns/{vpc_name(tmp_path, vpc)}"
    output("nsenter", inside, *harm.split())
    assert not await fits(real, firewall)
    await real.firewalls.apply(firewall)
    assert await fits(real, firewall)
    if "ruleset" not in harm:
        assert await real.arrival(Port(SECOND, 0), "10.0.0.3", "10.0.0.2") is None
