"""The way out of a region: what its guests reach of their host, and of the world behind it."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Network
from pathlib import Path

import pytest

from roost.core.catalog.entries import Uplink
from roost.engines.qemu.network import rules
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.network.uplink import MOST_NEIGHBOURS
from roost.resources.compute.network_engine import GuestAddress
from tests.engines.harness import Pools, claim_pools, until
from tests.engines.hosts import NamedHost
from tests.engines.stacks import Stack

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

_SECONDS = 0.5
"""Until somebody gives up that nobody answers."""

HOST, NEIGHBOUR = "192.0.2.1", "192.0.2.2"
HOST6, NEIGHBOUR6 = "fd00:77::1", "fd00:77::2"
BEYOND6 = "fd00:78::1/128"
"""Behind the neighbour, which is the host's router."""
FAR = "203.0.113.9"
"""Of another neighbour, on the other side of the host."""
METADATA_OF_THE_HOST = "169.254.42.42"
OPEN_PORTS = ("tcp/7001-7002", "udp/7003")
PRIVATE = IPv4Network("192.168.128.0/19")


class Place:
    """A host with a region and two guests, and a neighbour on either side."""

    def __init__(self, state_dir: Path, pools: Pools, uplink: Uplink, *, forwards: bool) -> None:
        name = f"roost-test{pools.ipv4.packed[2]}"
        self._state_dir = state_dir
        self.config = NetworkConfig(
            (pools.ipv4,),
            pools.ipv6,
            private=(PRIVATE,),
            uplink=uplink,
            host_ports=OPEN_PORTS,
            resolvers=(IPv4Address(HOST),),
        )
        self.pools = pools
        self.host, self.near, self.far = (NamedHost(f"{name}{end}") for end in "abc")
        self._connect(forwards)
        self.network = GuestNetwork(state_dir, self.config)
        specs = [pools.spec(number) for number in (100_001, 100_002)]
        private = GuestAddress(IPv4Interface("192.168.128.77/19"), None)
        specs[0] = replace(specs[0], ipv4=(*specs[0].ipv4, private))
        self.guest, self.other = (Stack(self.network, spec) for spec in specs)

    def _connect(self, forwards: bool) -> None:
        self.host.cable("eth0", self.near, "eth0")
        self.host.cable("eth1", self.far, "eth0")
        self.host.address("eth0", f"{HOST}/24", f"{HOST6}/64")
        self.near.address("eth0", f"{NEIGHBOUR}/24", f"{NEIGHBOUR6}/64", "169.254.42.42/32")
        self.host.address("eth1", "203.0.113.1/24")
        self.far.address("eth0", f"{FAR}/24")
        self.host.ip("route", "add", "default", "via", NEIGHBOUR)
        self.host.ip("-6", "route", "add", "default", "via", NEIGHBOUR6)
        self.host.ip("route", "add", METADATA_OF_THE_HOST, "via", NEIGHBOUR)
        self.near.ip("route", "add", "default", "via", HOST)
        self.near.ip("-6", "route", "add", "default", "via", HOST6)
        self.far.ip("route", "add", "default", "via", "203.0.113.1")
        if forwards:
            self.host.program("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")

    def open(self) -> None:
        self.host.run(self.guest.boot())
        self.host.run(self.other.boot())
        self.host.run(until(self._probed, lambda all_of_them: all_of_them))

    async def _probed(self) -> bool:
        """Whether the kernels have tried that addresses are nobody else's."""
        machines = (self.host, self.near, self.far)
        return not any("tentative" in each.ip("-6", "address") for each in machines)

    def forwards(self, setting: str = "ipv4/ip_forward") -> bool:
        return self.host.program("cat", f"/proc/sys/net/{setting}").strip() == "1"

    def tables(self) -> set[str]:
        return set(self.host.program("nft", "list", "tables").split()) - {"table", "inet"}

    def tear_down(self) -> None:
        self.host.run(self.network.tear_down())

    def close(self) -> None:
        with ExitStack() as stack:
            for each in (self.host, self.near, self.far):
                stack.callback(each.close)
            stack.callback(self.tear_down)
            stack.callback(self.guest.close)
            stack.callback(self.other.close)


@contextmanager
def placed(state_dir: Path, uplink: Uplink, *, forwards: bool = False) -> Iterator[Place]:
    place = Place(state_dir, claim_pools(), uplink, forwards=forwards)
    try:
        place.open()
        yield place
    finally:
        place.close()


@pytest.fixture(scope="module")
def nat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with placed(tmp_path_factory.mktemp("nat"), "nat") as place:
        yield place


@pytest.fixture(scope="module")
def routed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with placed(tmp_path_factory.mktemp("routed"), "routed") as place:
        yield place


@pytest.fixture(scope="module")
def shut(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with placed(tmp_path_factory.mktemp("shut"), "none") as place:
        yield place


def _listen(address: str, port: int, kind: socket.SocketKind) -> socket.socket:
    found = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if ":" in address:
        found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    found.bind((address, port))
    if kind == socket.SOCK_STREAM:
        found.listen()
    found.settimeout(_SECONDS)
    return found


async def _of(work: Callable[[], socket.socket]) -> socket.socket:
    return work()


def serve(
    who: NamedHost, port: int, *, ipv6: bool = False, kind: socket.SocketKind = socket.SOCK_STREAM
) -> socket.socket:
    """A service at all of its addresses."""
    return who.run(_of(partial(_listen, "::" if ipv6 else "0.0.0.0", port, kind)))


def _connect(address: str, port: int, source: str) -> str:
    begin = (source, 0) if source else None
    with socket.create_connection((address, port), _SECONDS, source_address=begin) as connection:
        return str(connection.getpeername()[0])


def reaches(place: Place, guest: Stack, address: str, port: int, source: str = "") -> bool:
    """Whether a guest can open a connection."""
    try:
        place.host.run(guest.run(partial(_connect, address, port, source)))
    except OSError:
        return False
    return True


def asker(listener: socket.socket) -> str:
    """Who has connected first, as the service sees it."""
    connection, (address, *_) = listener.accept()
    connection.close()
    return str(address)


async def _dial(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), _SECONDS).close()
    except OSError:
        return False
    return True


def own_ipv4(stack: Stack) -> str:
    return str(stack.spec.ipv4[0].interface.ip)


def own_ipv6(stack: Stack) -> str:
    assert stack.spec.ipv6 is not None
    return str(stack.spec.ipv6.ip)


def test_guests_leave_in_the_name_of_the_host(nat: Place) -> None:
    for ipv6, address, name in ((False, NEIGHBOUR, HOST), (True, NEIGHBOUR6, HOST6)):
        with serve(nat.near, 80, ipv6=ipv6) as listener:
            assert reaches(nat, nat.guest, address, 80)
            assert asker(listener) == name


def test_guests_leave_in_their_own_name(routed: Place) -> None:
    for ipv6, address, own in (
        (False, NEIGHBOUR, own_ipv4(routed.guest)),
        (True, NEIGHBOUR6, own_ipv6(routed.guest)),
    ):
        with serve(routed.near, 80, ipv6=ipv6) as listener:
            assert reaches(routed, routed.guest, address, 80)
            assert asker(listener) == own


@pytest.mark.parametrize("address_of", [own_ipv4, own_ipv6])
def test_only_routed_guests_are_reached_from_outside(
    nat: Place, routed: Place, address_of: Callable[[Stack], str]
) -> None:
    for place, found in ((routed, True), (nat, False)):
        address = address_of(place.guest)
        wildcard = "::" if ":" in address else "0.0.0.0"
        listen = partial(_listen, wildcard, 80, socket.SOCK_STREAM)
        with place.host.run(place.guest.run(listen)):
            assert place.near.run(_dial(address, 80)) is found
            assert place.host.run(_dial(address, 80))  # Operators look after their guests.


def test_nobody_leaves_a_region_without_a_way_out(shut: Place) -> None:
    for ipv6, address in ((False, NEIGHBOUR), (True, NEIGHBOUR6)):
        with serve(shut.near, 80, ipv6=ipv6):
            assert not reaches(shut, shut.guest, address, 80)
    assert not shut.forwards()
    assert not shut.forwards("ipv6/conf/all/forwarding")


def _addresses_of_the_host(place: Place) -> list[str]:
    shown = place.host.ip("-brief", "address", "show", "dev", place.network.name).split()
    ends = [each.partition("/")[0] for each in shown if "/" in each]
    return [HOST, HOST6, *(each for each in ends if not each.startswith("fe80"))]


@pytest.mark.parametrize("port", [22, 53, 8080])
@pytest.mark.parametrize("uplink", ["nat", "routed", "shut"])
def test_guests_reach_no_service_of_the_host(
    uplink: str, port: int, request: pytest.FixtureRequest
) -> None:
    """Such as the control plane, its database, or a shell; names are asked for at one address."""
    place: Place = request.getfixturevalue(uplink)
    addresses = _addresses_of_the_host(place)
    assert len(addresses) == 4
    for address in addresses:
        with serve(place.host, port, ipv6=":" in address):
            allowed = (address, port, uplink != "shut") == (HOST, 53, True)
            assert reaches(place, place.guest, address, port) is allowed


def test_guests_reach_the_ports_that_the_operator_opens(nat: Place) -> None:
    for port, found in ((7000, False), (7001, True), (7002, True), (7003, False)):
        for ipv6, address in ((False, HOST), (True, HOST6)):
            with serve(nat.host, port, ipv6=ipv6) as listener:
                assert reaches(nat, nat.guest, address, port) is found
                if found:
                    own = own_ipv6 if ipv6 else own_ipv4
                    assert asker(listener) == own(nat.guest)


def _send(address: str, port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", (address, port))


@pytest.mark.parametrize(("port", "found"), [(7001, False), (7003, True), (53, True)])
def test_the_same_of_datagrams(nat: Place, port: int, found: bool) -> None:
    with serve(nat.host, port, kind=socket.SOCK_DGRAM) as listener:
        nat.host.run(nat.guest.run(partial(_send, HOST, port)))
        if found:
            assert listener.recvfrom(10)[1][0] == own_ipv4(nat.guest)
        else:
            with pytest.raises(TimeoutError):
                listener.recv(10)


def test_a_private_address_stays_in_its_region(nat: Place, routed: Place) -> None:
    for place in (nat, routed):
        private = str(place.guest.spec.ipv4[1].interface.ip)
        with serve(place.near, 80):
            assert not reaches(place, place.guest, NEIGHBOUR, 80, private)
            assert reaches(place, place.guest, NEIGHBOUR, 80, own_ipv4(place.guest))


def test_guests_are_not_told_what_their_host_is_told(nat: Place, routed: Place) -> None:
    for place in (nat, routed):
        with serve(place.near, 80):
            assert place.host.run(_dial(METADATA_OF_THE_HOST, 80))
            assert not reaches(place, place.guest, METADATA_OF_THE_HOST, 80)


def _try_all(first: int, count: int) -> None:
    """Datagrams to many addresses of the network that the host is on."""
    network = IPv6Network(f"{HOST6}/64", strict=False)
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:
        for number in range(first, first + count):
            sender.sendto(b"x", (str(network[number]), 9))


def test_a_guest_does_not_fill_the_hosts_table_of_neighbours(nat: Place) -> None:
    """It reaches what is beyond the host's router all the while."""
    nat.host.run(nat.guest.run(partial(_try_all, 1 << 20, 3 * MOST_NEIGHBOURS)))
    asked = nat.host.ip("-6", "neigh", "show", "dev", "eth0").splitlines()
    assert 0 < len(asked) < MOST_NEIGHBOURS + 10
    nat.near.address("lo", BEYOND6)
    with serve(nat.near, 80, ipv6=True):
        assert reaches(nat, nat.other, BEYOND6.partition("/")[0], 80)


def test_a_host_is_no_router_for_its_neighbours(nat: Place) -> None:
    with serve(nat.far, 80):
        assert nat.forwards()
        assert reaches(nat, nat.guest, FAR, 80)
        assert nat.host.run(_dial(FAR, 80))
        assert not nat.near.run(_dial(FAR, 80))


def test_a_host_forwards_no_longer_than_it_has_regions(tmp_path: Path) -> None:
    with placed(tmp_path, "nat") as place:
        assert place.forwards()
        assert place.forwards("ipv6/conf/all/forwarding")
        place.tear_down()
        assert not place.forwards()
        assert not place.forwards("ipv6/conf/all/forwarding")
        assert place.tables() == set()


def test_a_host_that_is_a_router_stays_one(tmp_path: Path) -> None:
    with placed(tmp_path, "nat", forwards=True) as place:
        with serve(place.far, 80):
            assert place.near.run(_dial(FAR, 80))
        place.tear_down()
        assert place.forwards()
        assert not place.forwards("ipv6/conf/all/forwarding")


@pytest.mark.parametrize(
    "harm",
    [
        "echo 0 > /proc/sys/net/ipv4/ip_forward",
        "nft flush ruleset",
        "nft delete table inet roost_forwarding",
        "nft flush chain inet {table} from_guests; nft flush chain inet {table} leaving",
        "ip netns exec {network} ip route delete default",
    ],
)
def test_the_way_out_is_mended(tmp_path: Path, harm: str) -> None:
    with placed(tmp_path, "nat") as place:
        network = place.network.name
        command = harm.format(network=network, table=network.replace("-", "_"))
        place.host.program("sh", "-c", command)
        assert set(place.host.run(place.network.addresses()).values()) == {None}
        place.host.run(place.network.readdress(place.guest.spec.addresses))
        place.host.run(place.network.readdress(place.other.spec.addresses))
        assert None not in place.host.run(place.network.addresses()).values()
        with serve(place.near, 80), serve(place.far, 80), serve(place.host, 8080):
            assert reaches(place, place.guest, NEIGHBOUR, 80)
            assert not reaches(place, place.guest, HOST, 8080)
            assert not place.near.run(_dial(FAR, 80))
        place.tear_down()
        assert not place.forwards()


def test_one_guest_does_not_take_all_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_CONNECTIONS", 20)
    with placed(tmp_path, "nat") as place, serve(place.near, 80):
        place.host.run(place.guest.run(partial(_flood, NEIGHBOUR)))
        assert not reaches(place, place.guest, NEIGHBOUR, 80)
        assert reaches(place, place.other, NEIGHBOUR, 80)


def _flood(address: str) -> None:
    with ExitStack() as stack:
        for _ in range(25):
            sender = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            sender.sendto(b"x", (address, 9))
