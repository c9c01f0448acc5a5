"""Networks of guests that span two hosts: who hears whom is the same as on one."""

import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import Literal

import pytest

from roost.engines.qemu.network.config import vlans_name, vpc_name
from roost.engines.qemu.network.tunnels import OVERLAY, PORT, host_mac, number
from roost.engines.qemu.network.vpcs import gateway_mac
from roost.engines.simulated.packets import Arrival
from roost.engines.simulated.segments import Port
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.overlay_engine import Overlay, RemoteAddress
from tests.engines.frames import Sender
from tests.engines.hosts import NamedHost
from tests.engines.qemu_host import output
from tests.engines.segment import Segment
from tests.engines.segment_harness import Place, RealSegments

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

BLUE, RED = 7, 2**36
VPC = 7
BLUE_NET, RED_NET, OTHER_NET = 701, 702, 901
"""Subnets of two VPCs."""
FIRST, SECOND, THIRD, FOURTH = 100_001, 100_002, 100_003, 100_004
HERE, THERE = IPv4Address("192.0.2.1"), IPv4Address("192.0.2.2")
LARGEST = 1471
"""Bytes of a packet that is answered with one more, to the MTU."""
WORLD = IPv4Address("192.0.2.9")

RANGE = IPv6Network("2001:db8:77::/64")

Side = Literal["here", "there"]


@dataclass(frozen=True)
class Region:
    """Two hosts on a segment, and a stranger (the world) beside them."""

    segment: Segment
    here: RealSegments
    there: RealSegments

    def at(self, side: Side) -> tuple[NamedHost, RealSegments]:
        one = side == "here"
        return (self.segment.here, self.here) if one else (self.segment.there, self.there)

    def runs(self, side: Side, spec: InstanceSpec) -> None:
        host, guests = self.at(side)
        host.run(guests.attach(spec))

    def vlan_guest(self, side: Side, compute_id: int, *vlans: int) -> None:
        _, guests = self.at(side)
        self.runs(side, guests.guest(compute_id, *vlans))

    def vpc_guest(self, side: Side, compute_id: int, *places: Place) -> None:
        _, guests = self.at(side)
        self.runs(side, guests.place(guests.guest(compute_id), *places))

    def leaves(self, side: Side, compute_id: int) -> None:
        host, guests = self.at(side)
        host.run(guests.detach(compute_id))

    def told(self, side: Side, overlay: Overlay) -> None:
        host, guests = self.at(side)
        host.run(guests.network.set_overlay(overlay))
        assert host.run(guests.network.overlay()) == overlay

    def stands(self, side: Side) -> bool:
        host, guests = self.at(side)
        return host.run(guests.network.overlay()) is not None

    def hearers(self, sender: Port) -> set[Port]:
        """Of a frame to everybody."""
        tag = f"from {sender} {time.monotonic_ns()}".encode()
        self.here.says(sender, tag)
        return self.here.heard(tag)

    def arrival(
        self, side: Side, sender: Port, source: str, target: str, size: int = 0
    ) -> Arrival | None:
        host, guests = self.at(side)
        return host.run(guests.arrival(sender, source, target, size))

    def close(self) -> None:
        for host, guests in (self.at("here"), self.at("there")):
            host.run(guests.close())
            assert output("ip", "netns", "exec", host.name, "nft", "list", "tables") == ""
        self.segment.close()


@pytest.fixture
def region(tmp_path: Path) -> Iterator[Region]:
    here = RealSegments(tmp_path / "here", patience=1.0)
    there = RealSegments(tmp_path / "there", beside=here, patience=1.0)
    segment = Segment(f"roost-over{here.pools.number}", here.pools)
    region = Region(segment, here, there)
    yield region
    region.close()


def remote(host: IPv4Address, address: str, *ranges: str) -> RemoteAddress:
    return RemoteAddress(host, IPv4Address(address), frozenset(map(IPv4Network, ranges)))


def elsewhere(host: IPv4Address, spec: InstanceSpec) -> frozenset[RemoteAddress]:
    (ipv4,), ipv6 = spec.ipv4, spec.ipv6
    assert ipv6 is not None
    own = RemoteAddress(host, ipv6.ip, spec.ranges)
    return frozenset({RemoteAddress(host, ipv4.interface.ip), own})


def test_a_vlan_is_heard_on_both_hosts(region: Region) -> None:
    """Broadcasts and answers, by those in it alone; whichever host is told first."""
    region.told("here", Overlay(HERE, vlans={BLUE: frozenset({THERE})}))
    region.vlan_guest("here", FIRST, BLUE)
    region.vlan_guest("here", SECOND, RED, BLUE)
    region.vlan_guest("there", THIRD, BLUE)
    region.vlan_guest("there", FOURTH, RED)
    assert region.hearers(Port(THIRD, 0)) == set()
    region.told("there", Overlay(THERE, vlans={BLUE: frozenset({HERE})}))
    blue = {Port(FIRST, 0), Port(SECOND, 1), Port(THIRD, 0)}
    for port in (Port(FIRST, 0), Port(THIRD, 0)):
        assert region.hearers(port) == blue - {port}
    assert region.hearers(Port(SECOND, 0)) == set()
    region.told("here", Overlay(HERE, vlans={RED: frozenset({THERE})}))
    region.told("there", Overlay(THERE, vlans={RED: frozenset({HERE})}))
    assert region.hearers(Port(FOURTH, 0)) == {Port(SECOND, 0)}
    assert region.hearers(Port(FIRST, 0)) == {Port(SECOND, 1)}


def test_tunnels_go_with_the_last_guest(region: Region, tmp_path: Path) -> None:
    region.told("here", Overlay(HERE, vlans={BLUE: frozenset({THERE})}))
    region.vlan_guest("here", FIRST, BLUE)
    vlans = vlans_name(tmp_path / "here")
    assert output("ip", "-n", vlans, "link", "show", "type", "vxlan")
    region.leaves("here", FIRST)
    assert output("ip", "-n", vlans, "link", "show", "type", "vxlan") == ""
    assert region.stands("here")


def test_guests_of_a_vpc_reach_each_other_on_both_hosts(region: Region) -> None:
    """In one subnet and across, by what is routed to them, and with packets of full size."""
    here, there = (
        Overlay(own, vpcs={VPC: frozenset(guests)})
        for own, guests in (
            (HERE, [remote(THERE, "10.0.0.3", "10.9.0.0/24"), remote(THERE, "10.0.1.2")]),
            (THERE, [remote(HERE, "10.0.0.2")]),
        )
    )
    region.told("here", here)
    region.vpc_guest("here", FIRST, Place(BLUE_NET, "10.0.0.2/24"))
    region.vpc_guest("there", SECOND, Place(BLUE_NET, "10.0.0.3/24", ranges=("10.9.0.0/24",)))
    region.vpc_guest("there", THIRD, Place(RED_NET, "10.0.1.2/24"))
    region.vpc_guest("there", FOURTH, Place(OTHER_NET, "10.0.0.2/24"))
    first, second, third = (Port(each, 0) for each in (FIRST, SECOND, THIRD))
    assert region.arrival("there", third, "10.0.1.2", "10.0.0.2") is None
    region.told("there", there)
    for size in (0, LARGEST):
        assert region.arrival("here", first, "10.0.0.2", "10.0.0.3", size) == Arrival(
            second, "10.0.0.2"
        )
        assert region.arrival("there", third, "10.0.1.2", "10.0.0.2", size) == Arrival(
            first, "10.0.1.2"
        )
    assert region.arrival("here", first, "10.0.0.2", "10.9.0.7") == Arrival(second, "10.0.0.2")
    assert region.arrival("there", second, "10.0.0.3", "10.0.1.2") == Arrival(third, "10.0.0.3")
    assert region.arrival("there", Port(FOURTH, 0), "10.0.0.2", "10.0.0.3") is None


def test_guests_of_a_region_reach_each_other_on_both_hosts(region: Region) -> None:
    """By their public addresses, and by what is routed to them; without a way out."""
    here, there = (
        replace(guests.guest(compute_id, None), ranges=ranges)
        for guests, compute_id, ranges in (
            (region.here, FIRST, frozenset()),
            (region.there, SECOND, frozenset({RANGE})),
        )
    )
    addresses = {spec.id: (spec.ipv4[0].interface.ip, spec.ipv6) for spec in (here, there)}
    region.told("here", Overlay(HERE, region=elsewhere(THERE, there)))
    region.told("there", Overlay(THERE, region=elsewhere(HERE, here)))
    region.runs("here", here)
    region.runs("there", there)
    first, second = Port(FIRST, 0), Port(SECOND, 0)
    (own, own6), (other, other6) = addresses[FIRST], addresses[SECOND]
    assert own6 is not None
    assert other6 is not None
    for size in (0, LARGEST):
        assert region.arrival("here", first, str(own), str(other), size) == Arrival(
            second, str(own)
        )
        assert region.arrival("there", second, str(other), str(own), size) == Arrival(
            first, str(other)
        )
    for target in (other6.ip, RANGE[9]):
        tag = f"to {target}".encode()
        region.here.sends(first, str(own6.ip), str(target), tag)
        assert region.there.heard(tag) == {second}


def test_the_gateway_answers_for_guests_on_other_hosts(region: Region) -> None:
    region.told("here", Overlay(HERE, vpcs={VPC: frozenset({remote(THERE, "10.0.0.3")})}))
    region.vpc_guest("here", FIRST, Place(BLUE_NET, "10.0.0.2/24"))
    own, target = IPv4Address("10.0.0.2"), IPv4Address("10.0.0.3")
    assert region.here.asks(Port(FIRST, 0), own, target) == gateway_mac(BLUE_NET)


def test_a_guest_that_is_at_neither_end_does_not_circle(region: Region, tmp_path: Path) -> None:
    """Each host takes it to be on the other one."""
    circling = (remote(THERE, "10.0.0.9"), remote(HERE, "10.0.0.9"))
    region.told("here", Overlay(HERE, vpcs={VPC: frozenset({circling[0]})}))
    region.told("there", Overlay(THERE, vpcs={VPC: frozenset({circling[1]})}))
    region.vpc_guest("here", FIRST, Place(BLUE_NET, "10.0.0.2/24"))
    region.vpc_guest("there", SECOND, Place(BLUE_NET, "10.0.0.3/24"))
    before = sent(tmp_path / "there")
    assert region.arrival("here", Port(FIRST, 0), "10.0.0.2", "10.0.0.9") is None
    assert sent(tmp_path / "there") == before


def test_a_guest_comes_from_the_other_host(region: Region) -> None:
    """What said that it is there says that it is here; the rest of the network goes on."""
    region.told("here", Overlay(HERE, vpcs={VPC: frozenset({remote(THERE, "10.0.0.3")})}))
    region.told("there", Overlay(THERE, vpcs={VPC: frozenset({remote(HERE, "10.0.0.2")})}))
    region.vpc_guest("here", FIRST, Place(BLUE_NET, "10.0.0.2/24"))
    region.vpc_guest("there", SECOND, Place(BLUE_NET, "10.0.0.3/24"))
    first, second = Port(FIRST, 0), Port(SECOND, 0)
    assert region.arrival("here", first, "10.0.0.2", "10.0.0.3") == Arrival(second, "10.0.0.2")
    region.leaves("there", SECOND)
    region.vpc_guest("here", SECOND, Place(BLUE_NET, "10.0.0.3/24"))
    region.told("here", Overlay(HERE))
    region.told("there", Overlay(THERE))
    assert region.arrival("here", first, "10.0.0.2", "10.0.0.3") == Arrival(second, "10.0.0.2")


def test_strangers_send_nothing_in(region: Region) -> None:
    """A machine beside the hosts that knows the number of a network."""
    region.told("here", Overlay(HERE, vlans={BLUE: frozenset({THERE})}))
    region.vlan_guest("here", FIRST, BLUE)
    for host, own in ((region.segment.there, THERE), (region.segment.world, WORLD)):
        numbers = ("id", str(number("vlan", BLUE)), "dstport", "4789")
        ends = ("local", str(own), "remote", str(HERE))
        host.ip("link", "add", "fake", "type", "vxlan", *numbers, *ends)
        host.ip("link", "set", "fake", "up")
        tag = f"from {own}".encode()
        host.run(shout("fake", tag))
        assert region.here.heard(tag) == ({Port(FIRST, 0)} if own == THERE else set())


def test_guests_send_nothing_in_as_their_host(tmp_path: Path) -> None:
    """Although all else that they send leaves in its name (NAT)."""
    guests = RealSegments(tmp_path, uplink="nat")
    segment = Segment(f"roost-over{guests.pools.number}", guests.pools)
    region = Region(segment, guests, guests)
    try:
        region.told("here", Overlay(HERE, frozenset({THERE})))
        spec = guests.guest(FIRST, None)
        region.runs("here", spec)
        source = str(spec.ipv4[0].interface.ip)
        for target, port, found in (
            (THERE, PORT, False),
            (THERE, PORT + 1, True),
            (WORLD, PORT, True),
        ):
            there = segment.there if target == THERE else segment.world
            with there.run(listening(port)) as listener:
                guests.sends(Port(FIRST, 0), source, str(target), b"in", port)
                assert (there.run(heard_from(listener)) == str(HERE)) is found
    finally:
        segment.here.run(guests.close())
        segment.close()


@pytest.mark.parametrize("spoiled", ["device", "route", "neighbour", "end", "guard"])
def test_what_somebody_changes_shows_and_is_mended(
    region: Region, tmp_path: Path, spoiled: str
) -> None:
    overlay = Overlay(HERE, vpcs={VPC: frozenset({remote(THERE, "10.0.0.3", "10.9.0.0/24")})})
    region.told("here", overlay)
    region.vpc_guest("here", FIRST, Place(BLUE_NET, "10.0.0.2/24"))
    name, host = vpc_name(tmp_path / "here", VPC), region.segment.here
    match spoiled:
        case "device":
            output("ip", "-n", name, "link", "delete", OVERLAY)
        case "route":
            output("ip", "-n", name, "route", "delete", "10.9.0.0/24")
        case "neighbour":
            output("ip", "-n", name, "neigh", "delete", "10.0.0.3", "dev", OVERLAY)
        case "end":
            place = ("dev", OVERLAY, "dst", str(THERE))
            output("bridge", "-n", name, "fdb", "del", host_mac(THERE), *place)
        case "guard":
            host.program("nft", "flush", "ruleset")
    assert not region.stands("here")
    region.told("here", overlay)


def sent(state_dir: Path) -> int:
    """Packets that a host has sent to others in the VPC."""
    text = output("ip", "-n", vpc_name(state_dir, VPC), "-json", "-stats", "link", "show", OVERLAY)
    packets: int = json.loads(text)[0]["stats64"]["tx"]["packets"]
    return packets


async def shout(device: str, tag: bytes) -> None:
    """A frame to everybody by a device of a host."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as ethernet:
        ethernet.bind((device, 0))
        ethernet.send(Sender("02:00:00:00:00:09", HERE, IPv6Address("fe80::9")).udp(tag))


async def listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.bind(("0.0.0.0", port))
    found.settimeout(0.5)
    return found


async def heard_from(listener: socket.socket) -> str | None:
    """Who has sent something; None when nobody does."""
    try:
        source: str = listener.recvfrom(100)[1][0]
    except TimeoutError:
        return None
    return source
