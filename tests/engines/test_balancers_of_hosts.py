"""A NodeBalancer on one of two hosts: it reaches nodes on both, and is reached from everywhere."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

import pytest

from roost.engines.qemu.balancers.engine import HaproxyBalancers
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.engines import NftablesFirewalls
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.compute.network_engine import GuestAddress
from roost.resources.compute.overlay_engine import Overlay, RemoteAddress
from roost.resources.firewalls.engine import FirewallSpec, Rule, RuleSet
from roost.resources.nodebalancers.engine import BalancerSpec, NodeSpec
from tests.engines.balancer_harness import QUICK, config
from tests.engines.harness import Pools, claim_pools, until
from tests.engines.hosts import NamedHost
from tests.engines.segment import Segment, answer_for, leave_to_others
from tests.engines.stacks import Stack

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

PRIVATE = IPv4Network("192.168.128.0/17")
PORT = 80
ANSWER = 65_536
"""Bytes of what a node says."""
_SECONDS = 2.0
CLOSED = RuleSet((), "DROP", (), "ACCEPT")


class Guest:
    """One that says its number to whoever connects, and who that is."""

    def __init__(self, host: "Host", number: int) -> None:
        self.host, self.number = host, number
        self.private = str(PRIVATE[number])
        own = GuestAddress(IPv4Interface(f"{self.private}/17"), None)
        spec = host.pools.spec(100_000 + number)
        self.stack = Stack(host.network, replace(spec, ipv4=(*spec.ipv4, own)))
        host.name.run(self.stack.boot())
        self._listener = host.name.run(self.stack.run(self._listen))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def node(self) -> NodeSpec:
        return NodeSpec(self.number, self.private, PORT, 50, "accept")

    @property
    def addresses(self) -> list[IPv4Address]:
        return [each.interface.ip for each in self.stack.spec.ipv4]

    def reaches(self, address: str) -> None:
        """When it is answered something there."""
        ask = partial(self.stack.run, partial(_asked, address))
        self.host.name.run(until(ask, lambda answer: answer is not None))

    def _listen(self) -> socket.socket:
        found = socket.socket()
        found.bind(("0.0.0.0", PORT))
        found.listen()
        return found

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, (peer, _) = self._listener.accept()
                with connection, suppress(OSError):
                    connection.sendall(f"{self.number} {peer}".ljust(ANSWER).encode())

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        self.stack.close()


@dataclass
class Host:
    """One of the two, with its part of the region."""

    name: NamedHost
    address: IPv4Address
    state: Path
    pools: Pools
    guests: list[Guest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.config = NetworkConfig(
            (self.pools.ipv4,), self.pools.ipv6, (PRIVATE,), uplink="routed"
        )
        self.network = GuestNetwork(self.state, self.config)
        self.balancers = HaproxyBalancers(self.state, self.config)
        self.firewalls = NftablesFirewalls(self.state, self.config)

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(lambda: self.name.run(self.network.tear_down()))
            stack.callback(lambda: self.name.run(self.balancers.shut_down()))
            for guest in self.guests:
                stack.callback(guest.close)


@dataclass
class Region:
    """Two hosts beside the world, a guest on each."""

    segment: Segment
    here: Host
    there: Host

    @property
    def address(self) -> str:
        """That of the NodeBalancer."""
        return str(self.here.pools.ipv4.network[250])

    def spec(self) -> BalancerSpec:
        nodes = [guest.node for host in (self.here, self.there) for guest in host.guests]
        served = replace(config(7, *nodes, check=QUICK), protocol="tcp")
        return BalancerSpec(1, 1, self.address, 0, (served,))

    def tell(self, holder: Host) -> None:
        """The hosts where guests of the other one are, and the NodeBalancer."""
        for host, other in ((self.here, self.there), (self.there, self.here)):
            found = {each for guest in other.guests for each in guest.addresses}
            found |= {IPv4Address(self.address)} if other is holder else set()
            region = frozenset(RemoteAddress(other.address, each) for each in found)
            overlay = Overlay(host.address, frozenset({other.address}), region)
            host.name.run(host.network.set_overlay(overlay))
            assert host.name.run(host.network.overlay()) == overlay

    def hold(self, host: Host) -> None:
        """The NodeBalancer is there from now on."""
        other = self.there if host is self.here else self.here
        host.name.run(host.balancers.apply(self.spec()))
        other.name.run(other.balancers.remove(1))
        self.tell(host)
        self.led_to(host)

    def counted(self) -> tuple[int, int]:
        """Bytes from clients, and to them."""
        found = self.here.name.run(self.here.balancers.traffic())[1]
        return found.bytes_in, found.bytes_out

    def led_to(self, host: Host) -> None:
        """The world's router leads what is for the NodeBalancer there."""
        for each in (self.here, self.there):
            leave_to_others(each.name, self.address)
        answer_for(host.name, self.address)
        self.segment.world.ip("neigh", "flush", "dev", "br0")

    def serves(self, *hosts: Host) -> None:
        """Clients in the world come to exactly the nodes on these hosts, once checks have seen
        them; nodes are told who asks by the address of the NodeBalancer."""
        wanted = {f"{guest.number} {self.address}" for host in hosts for guest in host.guests}
        self.segment.world.run(until(self._answers, lambda found: found == wanted))

    async def _answers(self) -> set[str]:
        """Of all nodes that serve, one after the other."""
        return {found for found in (_asked(self.address) for _ in range(4)) if found}


def _asked(address: str) -> str | None:
    try:
        with (
            socket.create_connection((address, PORT), _SECONDS) as connection,
            connection.makefile("rb") as answer,
        ):
            return answer.read().decode().strip() or None
    except OSError:
        return None


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Region]:
    pools, folder = claim_pools(), tmp_path_factory.mktemp("hosts")
    with ExitStack() as stack:
        segment = Segment(f"roost-balanced{pools.number}", pools)
        stack.callback(segment.close)
        here, there = (
            Host(name, segment.addresses[name], folder / name.name, pools)
            for name in (segment.here, segment.there)
        )
        region = Region(segment, here, there)
        for number, host in enumerate((here, there), 1):
            stack.callback(host.close)
            host.guests.append(Guest(host, number))
        region.hold(here)
        yield region


def test_nodes_on_both_hosts_serve(region: Region) -> None:
    """And are `UP` where they are checked."""
    region.serves(region.here, region.there)
    up = {1: "UP", 2: "UP"}
    region.here.name.run(until(region.here.balancers.statuses, lambda found: found == up))


def test_only_what_clients_move_is_counted(region: Region) -> None:
    """Not what goes to and fro between it and its nodes, wherever these are."""
    region.serves(region.here, region.there)
    before = region.counted()
    region.serves(region.here, region.there)
    came, went = (now - then for now, then in zip(region.counted(), before, strict=True))
    assert went > 2 * ANSWER
    assert came < went / 4


def test_guests_on_both_hosts_reach_it(region: Region) -> None:
    for host in (region.here, region.there):
        for guest in host.guests:
            guest.reaches(region.address)


def test_what_comes_to_the_other_host_is_brought_to_it(region: Region) -> None:
    region.led_to(region.there)
    try:
        region.serves(region.here, region.there)
    finally:
        region.led_to(region.here)


def test_a_firewall_of_a_node_on_the_other_host_knows_it(region: Region) -> None:
    """By the address that clients come to."""
    (guest,) = region.there.guests
    rule = Rule("ACCEPT", "TCP", ((PORT, PORT),), (f"{region.address}/32",))
    shut = FirewallSpec(1, CLOSED, frozenset({guest.private}))
    firewalls, run = region.there.firewalls, region.there.name.run
    try:
        run(firewalls.apply(shut))
        region.serves(region.here)
        run(firewalls.apply(replace(shut, rules=replace(CLOSED, inbound=(rule,)))))
        region.serves(region.here, region.there)
    finally:
        run(firewalls.remove(1))


def test_another_host_takes_it_over(region: Region) -> None:
    """Its address is where it is, and reaches nodes on both from there."""
    region.hold(region.there)
    try:
        region.serves(region.here, region.there)
        assert region.here.name.run(region.here.balancers.list()) == []
        for host in (region.here, region.there):
            for guest in host.guests:
                guest.reaches(region.address)
    finally:
        region.hold(region.here)
    region.serves(region.here, region.there)
