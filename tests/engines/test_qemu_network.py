"""The guests' network on the host: set up, mended, removed; and nobody speaks for another."""

import os
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from ipaddress import IPv4Interface, IPv6Address
from pathlib import Path

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.engines.qemu.network.advertiser import find_advertiser
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.namespace import within
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.network.rules import link_local
from roost.resources.compute.engine import InstanceSpec
from tests.engines.frames import Sender
from tests.engines.harness import Pools, claim_pools, until
from tests.engines.qemu_host import output, processes_with

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

_ALL_PROTOCOLS = 3
_HEADER_BYTES = 10
"""What the kernel puts before each frame of a device with offloads."""


@dataclass(frozen=True)
class Setting:
    state_dir: Path
    pools: Pools
    network: GuestNetwork


def open_network(state_dir: Path) -> Setting:
    pools = claim_pools()
    config = NetworkConfig((pools.ipv4,), pools.ipv6)
    return Setting(state_dir, pools, GuestNetwork(state_dir, config))


@pytest_asyncio.fixture
async def setting(tmp_path: Path) -> AsyncIterator[Setting]:
    setting = open_network(tmp_path)
    yield setting
    await setting.network.tear_down()


class Port:
    """The network device of a guest, with the test in the guest's place."""

    def __init__(self, spec: InstanceSpec, descriptor: int, bridge: socket.socket) -> None:
        assert spec.ipv6 is not None
        self.spec = spec
        self.bridge = bridge
        self.own = Sender(spec.mac, spec.ipv4[0].interface.ip, spec.ipv6.ip)
        self._descriptor = descriptor
        os.set_blocking(descriptor, False)

    def send(self, frame: bytes) -> None:
        os.write(self._descriptor, bytes(_HEADER_BYTES) + frame)

    def received(self) -> bytes:
        """All that came since the last call."""
        data = b""
        while True:
            try:
                data += os.read(self._descriptor, 4096)
            except BlockingIOError:
                return data

    def close(self) -> None:
        os.close(self._descriptor)


@pytest_asyncio.fixture
async def bridge(setting: Setting) -> AsyncIterator[socket.socket]:
    """Hears what the gateway hears."""
    await setting.network.ensure()
    listener = await within(setting.network.name, _listen)
    yield listener
    listener.close()


def _listen() -> socket.socket:
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
    listener.bind(("br0", _ALL_PROTOCOLS))
    listener.setblocking(False)
    return listener


async def plug_in(setting: Setting, bridge: socket.socket, *specs: InstanceSpec) -> list[Port]:
    return [Port(spec, (await setting.network.attach(spec))[0], bridge) for spec in specs]


@pytest_asyncio.fixture
async def ports(setting: Setting, bridge: socket.socket) -> AsyncIterator[tuple[Port, Port]]:
    specs = [setting.pools.spec(number) for number in (100_001, 100_002)]
    first, second = await plug_in(setting, bridge, *specs)
    yield first, second
    first.close()
    second.close()


Forge = Callable[[Sender, Sender], bytes]
"""Makes a frame that the first sends, perhaps in the name of the second."""


async def passes(ports: tuple[Port, Port], forge: Forge) -> bool:
    """Whether the gateway sees the frame before an honest one that is sent after it."""
    first, second = ports
    first.send(forge(first.own, second.own))
    first.send(first.own.udp(b"the honest one"))
    seen = b""

    async def receive() -> bytes:
        nonlocal seen
        seen += heard(first.bridge)
        return seen

    await until(receive, lambda data: b"the honest one" in data)
    return b"the frame" in seen


def heard(bridge: socket.socket) -> bytes:
    """All that the gateway heard since the last call."""
    data = b""
    while True:
        try:
            data += bridge.recv(4096)
        except BlockingIOError:
            return data


async def test_no_guest_sees_a_frame_of_another(ports: tuple[Port, Port]) -> None:
    """To everybody, or to its very address: what it gets, it gets from the gateway."""
    first, second = ports
    direct = bytes.fromhex(second.spec.mac.replace(":", ""))
    for frame in (
        first.own.udp(b"the frame"),
        first.own.udp6(b"the frame"),
        first.own.arp(b"the frame"),
        direct + first.own.udp(b"the frame")[6:],
        direct + first.own.udp6(b"the frame")[6:],
    ):
        first.send(frame)
    assert await passes(ports, lambda own, _: own.udp(b"the frame"))
    assert b"the frame" not in second.received()


async def test_the_gateway_answers_for_other_guests(ports: tuple[Port, Port]) -> None:
    first, second = ports
    first.received()
    first.send(first.own.arp_request(second.own.ipv4))
    reply = bytes.fromhex("0806000108000604 0002".replace(" ", ""))

    async def received() -> bytes:
        return first.received()

    await until(received, lambda data: reply in data and second.own.ipv4.packed in data)


@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(lambda own, _: own.udp(b"the frame"), id="ipv4"),
        pytest.param(lambda own, _: own.udp6(b"the frame"), id="ipv6"),
        pytest.param(lambda own, _: own.arp(b"the frame"), id="arp"),
        pytest.param(
            lambda own, _: replace(own, ipv6=link_local(own.mac)).udp6(b"the frame"),
            id="link-local",
        ),
        pytest.param(
            lambda own, _: own.neighbour_advertisement(b"the frame", own.ipv6),
            id="neighbour advertisement",
        ),
        pytest.param(
            lambda own, _: own.linked_advertisement(b"the frame", own.mac),
            id="neighbour with its link",
        ),
        pytest.param(lambda own, _: own.arp_probe(b"the frame", own.ipv4), id="arp probe"),
        pytest.param(
            lambda own, _: own.neighbour_probe(b"the frame", own.ipv6), id="neighbour probe"
        ),
    ],
)
async def test_a_guest_speaks_for_itself(ports: tuple[Port, Port], forge: Forge) -> None:
    assert await passes(ports, forge)


SPOOFS: dict[str, tuple[str, Forge]] = {
    "mac": ("mac", lambda own, other: replace(own, mac=other.mac).udp(b"the frame")),
    "ipv4": ("source", lambda own, other: replace(own, ipv4=other.ipv4).udp(b"the frame")),
    "ipv6": ("source", lambda own, other: replace(own, ipv6=other.ipv6).udp6(b"the frame")),
    "link-local": (
        "source",
        lambda own, other: replace(own, ipv6=link_local(other.mac)).udp6(b"the frame"),
    ),
    "no ipv6 source": (
        "source",
        lambda own, _: replace(own, ipv6=IPv6Address("::")).udp6(b"the frame"),
    ),
    "arp": ("arp", lambda own, other: replace(own, ipv4=other.ipv4).arp(b"the frame")),
    "arp probe": ("arp", lambda own, other: own.arp_probe(b"the frame", other.ipv4)),
    "neighbour advertisement": (
        "neighbour",
        lambda own, other: own.neighbour_advertisement(b"the frame", other.ipv6),
    ),
    "neighbour at another": (
        "neighbour",
        lambda own, other: own.linked_advertisement(b"the frame", other.mac),
    ),
    "neighbour probe": (
        "neighbour",
        lambda own, other: own.neighbour_probe(b"the frame", other.ipv6),
    ),
    "router advertisement": (
        "router",
        lambda own, _: at_link(own).router_advertisement(b"the frame"),
    ),
    "fragment of one": (
        "fragment",
        lambda own, _: at_link(own).fragmented_advertisement(b"the frame"),
    ),
    "redirect": ("router", lambda own, _: at_link(own).redirect(b"the frame")),
    "dhcp server": ("dhcp", lambda own, _: own.udp(b"the frame", source_port=67)),
    "dhcpv6 server": ("dhcp", lambda own, _: own.udp6(b"the frame", source_port=547)),
    "vlan": ("source", lambda own, _: own.tagged(b"the frame")),
    "vlan in a vlan": ("source", lambda own, _: own.tagged_twice(b"the frame")),
}
"""What they are counted as, and how they are made."""


def at_link(sender: Sender) -> Sender:
    return replace(sender, ipv6=link_local(sender.mac))


@pytest.mark.parametrize(("reason", "forge"), SPOOFS.values(), ids=SPOOFS)
async def test_a_guest_never_speaks_for_another(
    setting: Setting, ports: tuple[Port, Port], reason: str, forge: Forge
) -> None:
    """Nobody gets it, and it is counted: of the region by reason, and of the device."""
    own, other = (f"guest_{port.spec.id}" for port in ports)
    before = await setting.network.dropped()
    assert not await passes(ports, forge)
    assert await setting.network.dropped() - before == {reason: 1}
    assert (counted(setting, own), counted(setting, other)) == (1, 0)
    assert b"the frame" not in ports[1].received()


def counted(setting: Setting, device: str) -> int:
    """Frames of a device that were dropped."""
    inside = ("nsenter", f"--net=/run/netns/{setting.network.name}")
    shown = output(*inside, "nft", "list", "counter", "bridge", "roost", device)
    return int(shown.partition("packets ")[2].split()[0])


async def test_what_was_counted_outlives_a_change(
    setting: Setting, ports: tuple[Port, Port]
) -> None:
    first, second = ports
    assert not await passes(ports, SPOOFS["arp"][1])
    less = replace(first.spec.addresses, ipv6=None)
    await setting.network.readdress(less)
    assert (await setting.network.dropped())["arp"] == 1
    assert counted(setting, f"guest_{first.spec.id}") == 1
    await setting.network.release(second.spec.id)
    await setting.network.release(second.spec.id)


async def test_a_frame_for_an_unknown_address_is_shown_to_nobody(
    ports: tuple[Port, Port],
) -> None:
    """Neither from a guest nor from the gateway."""
    first, second = ports
    stranger = "02:00:00:00:00:77"
    for frame in (first.own.udp(b"the frame"), first.own.udp6(b"the frame")):
        first.send(first.own.to(stranger, frame))
        first.bridge.send(first.own.to(stranger, frame))
    first.bridge.send(second.own.to(second.spec.mac, first.own.udp(b"the last one")))

    async def received() -> bytes:
        return second.received()

    seen = await until(received, lambda data: b"the last one" in data)
    assert b"the frame" not in seen
    assert b"the frame" not in first.received()


@pytest.mark.spec("B compute 4")
@pytest.mark.parametrize("restricted", [True, False])
@pytest.mark.parametrize("port", [25, 465, 587, 26, 80])
async def test_a_restricted_guest_sends_no_mail(
    setting: Setting, bridge: socket.socket, restricted: bool, port: int
) -> None:
    specs = [
        replace(setting.pools.spec(number), mail_restricted=restricted)
        for number in (100_001, 100_002)
    ]
    first, second = await plug_in(setting, bridge, *specs)
    expected = not restricted or port in (26, 80)
    assert await passes((first, second), lambda own, _: own.tcp(b"the frame", port)) is expected
    assert await passes((first, second), lambda own, _: own.tcp6(b"the frame", port)) is expected
    first.close()
    second.close()


async def test_a_guest_without_rules_is_mute(setting: Setting, ports: tuple[Port, Port]) -> None:
    first, second = ports
    spec = setting.pools.spec(100_003)
    (third,) = await plug_in(setting, first.bridge, spec)
    await setting.network.release(first.spec.id)
    first.send(first.own.udp(b"the frame"))
    assert not await passes((third, second), lambda own, _: own.udp(b"another one"))
    third.close()


async def test_the_pool_is_advertised(ports: tuple[Port, Port]) -> None:
    first, _ = ports
    assert first.spec.ipv6 is not None
    prefix = first.spec.ipv6.network.network_address.packed

    async def received() -> bytes:
        return first.received()

    await until(received, lambda data: prefix in data)


async def test_ensure_mends_what_is_broken(setting: Setting) -> None:
    network = setting.network
    await network.ensure()
    advertiser = find_advertiser(setting.state_dir / "network")
    assert advertiser is not None
    os.kill(advertiser.pid, signal.SIGKILL)
    output("ip", "-n", network.name, "link", "delete", "br0")
    output("ip", "link", "delete", network.name)
    await network.ensure()
    routes = output("ip", "route", "show", "dev", network.name)
    assert str(setting.pools.ipv4.network) in routes
    assert str(setting.pools.ipv4) in output("ip", "-n", network.name, "address")
    assert find_advertiser(setting.state_dir / "network") is not None


async def test_two_networks_coexist_and_go_without_a_trace(tmp_path: Path) -> None:
    settings = [open_network(tmp_path / name) for name in ("first", "second")]
    for setting in settings:
        await setting.network.ensure()
    for setting in settings:
        name = setting.network.name
        assert name in output("ip", "netns")
        await setting.network.tear_down()
        await setting.network.tear_down()
        assert name not in output("ip", "netns")
        assert name not in output("ip", "link")
        assert str(setting.pools.ipv4.network) not in output("ip", "route")
        assert processes_with(str(setting.state_dir)) == []
        assert list(setting.state_dir.iterdir()) == []


async def test_a_network_whose_directory_is_lost_is_still_removed(setting: Setting) -> None:
    await setting.network.ensure()
    shutil.rmtree(setting.state_dir / "network")
    await setting.network.tear_down()
    assert setting.network.name not in output("ip", "netns")
    assert processes_with(str(setting.state_dir)) == []


async def test_a_pool_in_use_is_refused(setting: Setting, tmp_path: Path) -> None:
    await setting.network.ensure()
    pool = IPv4Interface((setting.pools.ipv4.ip, 20))
    wider = NetworkConfig((pool,), setting.pools.ipv6)
    other = GuestNetwork(tmp_path / "other", wider)
    problem = await other.problem()
    assert problem is not None
    assert f"the pool {pool.network} overlaps" in problem
    with pytest.raises(EngineError, match="overlaps"):
        await other.ensure()
