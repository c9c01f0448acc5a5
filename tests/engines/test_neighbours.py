"""Guests that try many addresses: the table of neighbours, which all share, stays small."""

import json
import os
from collections.abc import AsyncIterator
from ipaddress import IPv4Network
from itertools import islice
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.network.config import vpc_name
from roost.engines.simulated.segments import Port
from tests.engines.qemu_host import output
from tests.engines.segment_harness import Place, RealSegments

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

GUEST, OTHER = 100_001, 100_002
PRIVATE = IPv4Network("192.168.128.0/20")
SUBNET, VPC = 701, 7
TRIED = 300


@pytest_asyncio.fixture
async def segments(tmp_path: Path) -> AsyncIterator[RealSegments]:
    segments = RealSegments(tmp_path, private=(PRIVATE,))
    yield segments
    await segments.close()


def asked_for(namespace: str) -> list[str]:
    """What the namespace has tried to find on a network; not links' own addresses."""
    shown = json.loads(output("ip", "-n", namespace, "-json", "neigh") or "[]")
    found = [each for each in shown if "PERMANENT" not in each["state"]]
    return [each["dst"] for each in found if not each["dst"].startswith("fe80:")]


@pytest.mark.parametrize("tried", ["public", "private", "ipv6"])
async def test_nobody_is_asked_for_what_no_guest_has(segments: RealSegments, tried: str) -> None:
    spec = segments.guest(GUEST, None)
    await segments.attach(spec)
    (own,), ipv6 = spec.ipv4, spec.ipv6
    assert ipv6 is not None
    source, pool = {
        "public": (own.interface.ip, segments.pools.ipv4.network.hosts()),
        "private": (own.interface.ip, PRIVATE.hosts()),
        "ipv6": (ipv6.ip, (ipv6.network[number] for number in range(1 << 20, 1 << 21))),
    }[tried]
    for target in islice((each for each in pool if each != source), TRIED):
        segments.sends(Port(GUEST, 0), str(source), str(target))
    assert asked_for(segments.network.name) == []


async def test_nobody_is_asked_in_a_vpc(segments: RealSegments, tmp_path: Path) -> None:
    """Guests of the subnet are reached all the same, also by what is routed to them."""
    port, place = Port(GUEST, 0), Place(SUBNET, "10.0.0.2/8")
    await segments.attach(segments.place(segments.guest(GUEST), place))
    other = Place(SUBNET, "10.0.0.3/8", ranges=("10.7.0.0/16",))
    await segments.attach(segments.place(segments.guest(OTHER), other))
    for target in islice(IPv4Network("10.0.1.0/16", strict=False).hosts(), 3, TRIED):
        segments.sends(port, "10.0.0.2", str(target))
    assert asked_for(vpc_name(tmp_path, VPC)) == []
    for found in ("10.0.0.3", "10.7.0.1"):
        assert await segments.arrival(port, "10.0.0.2", found) is not None


async def test_guests_of_an_earlier_release_stay_reached(segments: RealSegments) -> None:
    """Their network has no routes but those to the pools, as they were before."""
    for compute_id in (GUEST, OTHER):
        await segments.attach(segments.guest(compute_id, None))
    first, second = (segments.guest(each, None).ipv4[0].interface.ip for each in (GUEST, OTHER))
    name, pool = segments.network.name, str(segments.pools.ipv4.network)
    gateway = str(segments.pools.ipv4.ip)
    output("ip", "-n", name, "route", "replace", pool, "dev", "br0", "src", gateway)
    for each in (first, second):
        output("ip", "-n", name, "route", "delete", f"{each}/32")
    await segments.network.ensure()
    assert f"unreachable {pool}" in output("ip", "-n", name, "route")
    assert await segments.arrival(Port(GUEST, 0), str(first), str(second)) is not None
