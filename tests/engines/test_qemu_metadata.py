"""Guests at their region's metadata service: who they are is known by their network device."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Interface
from pathlib import Path

import pytest
import pytest_asyncio

from roost.engines.qemu.network.config import METADATA, NetworkConfig
from roost.engines.qemu.network.engines import NftablesFirewalls, QemuMetadata
from roost.engines.qemu.network.namespace import within
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.compute.network_engine import VpcLink
from roost.resources.compute.rules import side_mac_address
from roost.resources.firewalls.engine import FirewallSpec, RuleSet
from tests.engines.harness import Pools, claim_pools
from tests.engines.qemu_host import output
from tests.engines.stacks import Stack, VpcStack

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

IPV4, IPV6 = map(str, METADATA)
_SECONDS = 0.5
"""Until a guest gives up that nobody answers; its second attempt would come after one second."""
_BUSY_SECONDS = 20.0


class Region:
    """Two guests, of which the second shares an address with the first, and a service."""

    def __init__(self, state_dir: Path, pools: Pools) -> None:
        self.config = NetworkConfig((pools.ipv4,), pools.ipv6)
        self.state_dir = state_dir
        self.network = GuestNetwork(state_dir, self.config)
        self.engine = QemuMetadata(self.network)
        specs = [pools.spec(number) for number in (100_001, 100_002)]
        self.first, self.second = (Stack(self.network, spec) for spec in specs)
        self._listeners: tuple[socket.socket, ...] = ()
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        await self.first.boot()
        await self.second.boot()
        await self.serve(self.network.name)

    async def serve(self, network: str) -> None:
        listeners = await self.engine.listen(network)
        self._listeners += listeners
        self._tasks += [asyncio.create_task(self._serve(each)) for each in listeners]

    async def _serve(self, listener: socket.socket) -> None:
        """Tell everybody who they are, and hear them out."""
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(listener)
            connection.setblocking(False)
            await loop.sock_sendall(connection, b"%d" % self.engine.asker(connection))
            self._tasks.append(asyncio.create_task(self._hear(connection)))

    async def _hear(self, connection: socket.socket) -> None:
        with connection:
            await asyncio.get_running_loop().sock_recv(connection, 1)

    def inside(self, *command: str) -> str:
        return output("nsenter", f"--net=/run/netns/{self.network.name}", *command)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for listener in self._listeners:
            listener.close()
        self.first.close()
        self.second.close()
        await self.network.tear_down()


@pytest_asyncio.fixture(scope="module")
async def region(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Region]:
    region = Region(tmp_path_factory.mktemp("metadata"), claim_pools())
    try:
        await region.open()
        yield region
    finally:
        await region.close()


def connect(
    address: str, port: int = 80, source: str = "", seconds: float = _SECONDS
) -> socket.socket:
    """As a guest does it."""
    begin = (source, 0) if source else None
    return socket.create_connection((address, port), seconds, source_address=begin)


def told(address: str, source: str = "", seconds: float = _BUSY_SECONDS) -> int:
    """Who it is, as the service says."""
    with connect(address, source=source, seconds=seconds) as connection:
        return int(connection.recv(100))


def is_answered(address: str, source: str = "") -> bool:
    try:
        told(address, source, _SECONDS)
    except OSError:
        return False
    return True


def hops(address: str) -> set[int]:
    """How far answers may go, as they arrive in the guest."""
    is_v4 = ":" not in address
    own = socket.inet_pton(socket.AF_INET if is_v4 else socket.AF_INET6, address)
    kind = socket.htons(0x0800 if is_v4 else 0x86DD)
    found = set[int]()
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, kind) as wire:
        told(address)
        wire.setblocking(False)
        with suppress(BlockingIOError):
            while packet := wire.recv(2000):
                if (packet[12:16] if is_v4 else packet[8:24]) == own:
                    found.add(packet[8] if is_v4 else packet[7])
    return found


@pytest.mark.parametrize("address", [IPV4, IPV6])
async def test_a_guest_is_known(region: Region, address: str) -> None:
    for guest in (region.first, region.second):
        assert await guest.run(lambda: told(address)) == guest.spec.id


@pytest.mark.parametrize("address", [IPV4, IPV6])
async def test_answers_go_no_further_than_the_guest(region: Region, address: str) -> None:
    assert await region.first.run(lambda: hops(address)) == {1}


async def test_a_guest_is_known_by_its_device_not_by_its_address(region: Region) -> None:
    """Both may use a shared address; whoever has it is told who they are themselves."""
    shared = next(iter(region.first.spec.ipv4)).interface.ip + 100
    for guest in (region.first, region.second):
        addresses = guest.spec.addresses
        await region.network.readdress(replace(addresses, shared=frozenset({shared})))
        inside = ("ip", "-n", f"{region.network.name}-guest{guest.spec.id}", "address")
        output(*inside, "add", f"{shared}/24", "dev", "eth0")
        try:
            assert await guest.run(lambda: told(IPV4, str(shared))) == guest.spec.id
        finally:
            output(*inside, "delete", f"{shared}/24", "dev", "eth0")
            output("ip", "-n", region.network.name, "neigh", "flush", "to", str(shared))
            await region.network.readdress(addresses)


async def test_nobody_asks_with_an_address_of_another(region: Region) -> None:
    other = region.second.spec.ipv4[0].interface.ip
    inside = ("ip", "-n", f"{region.network.name}-guest{region.first.spec.id}", "address")
    output(*inside, "add", f"{other}/24", "dev", "eth0")
    try:
        assert not await region.first.run(lambda: is_answered(IPV4, str(other)))
    finally:
        output(*inside, "delete", f"{other}/24", "dev", "eth0")


@pytest.mark.parametrize("address", [IPV4, IPV6])
async def test_nothing_but_the_service_is_there(region: Region, address: str) -> None:
    """Not even where something listens at every address."""

    def listen() -> socket.socket:
        family = socket.AF_INET if ":" not in address else socket.AF_INET6
        found = socket.socket(family)
        found.bind(("", 8080))
        found.listen()
        return found

    with await within(region.network.name, listen), pytest.raises(TimeoutError):
        await region.first.run(lambda: connect(address, 8080))


@pytest.mark.parametrize("address", [IPV4, IPV6])
async def test_only_guests_get_there(region: Region, address: str) -> None:
    """Neither the host, by a route of its own, nor the gateway itself."""
    device = region.network.name
    via = ("via", _far_end(region, ":" in address), "dev", device)
    output("ip", "route", "add", address, *via)
    try:
        assert not await asyncio.to_thread(is_answered, address)
    finally:
        output("ip", "route", "delete", address, *via)
    assert not await within(region.network.name, lambda: is_answered(address))


def _far_end(region: Region, is_v6: bool) -> str:
    family = "-6" if is_v6 else "-4"
    words = output("ip", "-n", region.network.name, family, "-o", "address", "show", "uplink")
    return words.split()[3].partition("/")[0]


async def test_a_firewall_cannot_cut_it_off(region: Region) -> None:
    firewalls = NftablesFirewalls(region.state_dir, region.config)
    spec = region.first.spec
    assert spec.ipv6 is not None
    own = frozenset({str(spec.ipv4[0].interface.ip), str(spec.ipv6.ip)})
    closed = RuleSet(inbound=(), inbound_policy="DROP", outbound=(), outbound_policy="DROP")
    await firewalls.apply(FirewallSpec(7, closed, own))
    try:
        for address in (IPV4, IPV6):
            assert await region.first.run(partial(told, address)) == spec.id
    finally:
        await firewalls.remove(7)


async def test_a_guest_holds_few_connections(region: Region) -> None:
    def hold() -> list[socket.socket]:
        held = list[socket.socket]()
        with suppress(TimeoutError):
            while len(held) < 50:
                held.append(connect(IPV4))
        return held

    held = await region.first.run(hold)
    try:
        assert len(held) == 8
        assert await region.second.run(lambda: told(IPV4)) == region.second.spec.id
    finally:
        for connection in held:
            connection.close()


async def test_one_process_listens(region: Region) -> None:
    assert await region.engine.listen(region.network.name) == ()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("nft flush chain inet roost metadata", id="rules"),
        pytest.param("nft flush chain inet roost arrived", id="way to them"),
        pytest.param(f"ip address delete {IPV4}/32 dev lo", id="IPv4"),
        pytest.param(f"ip address delete {IPV6}/128 dev lo", id="IPv6"),
    ],
)
async def test_what_is_lost_shows_and_is_mended(region: Region, damage: str) -> None:
    """As the loss of a filter, which the watch of filters and fsck bring back."""
    spec = region.first.spec
    assert (await region.network.addresses())[spec.id] == spec.addresses
    region.inside(*damage.split())
    assert await region.network.addresses() == {100_001: None, 100_002: None}
    await region.network.readdress(spec.addresses)
    assert (await region.network.addresses())[spec.id] == spec.addresses
    for address in (IPV4, IPV6):
        assert await region.first.run(partial(told, address)) == spec.id


async def test_a_filter_of_an_earlier_release_shows(region: Region) -> None:
    """It does not say whose packets it lets through."""
    spec = region.first.spec
    note = region.state_dir / "network" / "guests" / str(spec.id)
    text = note.read_text()
    note.write_text(text[: text.index(',"wanted"')] + "}")
    assert (await region.network.addresses())[spec.id] is None
    await region.network.readdress(spec.addresses)
    assert (await region.network.addresses())[spec.id] == spec.addresses


async def test_a_network_that_is_made_anew_is_another(tmp_path: Path) -> None:
    pools = claim_pools()
    network = GuestNetwork(tmp_path, NetworkConfig((pools.ipv4,), pools.ipv6))
    engine = QemuMetadata(network)
    name = network.name
    assert engine.identity(name) is None
    await network.ensure()
    try:
        before = engine.identity(name)
        held = await engine.listen(name)
        assert before is not None
        assert held
        await network.tear_down()
        assert engine.identity(name) is None
        await network.ensure()
        assert engine.identity(name) not in (None, before)
        for listener in (*held, *await engine.listen(name)):
            listener.close()
    finally:
        await network.tear_down()


@pytest_asyncio.fixture
async def vpcs(region: Region) -> AsyncIterator[list[VpcStack]]:
    """Guests of two VPCs, with the same address."""
    found = [_in_vpc(region, 100_010 + each, vpc_id=7 + each) for each in (1, 2)]
    try:
        for guest in found:
            await guest.boot()
        for name in region.network.vpcs():
            await region.serve(name)
        yield found
    finally:
        for guest in found:
            guest.close()
            await region.network.release(guest.spec.id)
        assert region.engine.networks() == [region.network.name]


def _in_vpc(region: Region, compute_id: int, vpc_id: int) -> VpcStack:
    link = VpcLink(
        vpc_id=vpc_id,
        subnet_id=vpc_id,
        mac=side_mac_address(compute_id, 0),
        interface=IPv4Interface("10.0.0.2/24"),
        public=None,
        ranges=(),
        routes=(),
        primary=True,
    )
    return VpcStack(region.network, replace(claim_pools().spec(compute_id), links=(link,)))


async def test_guests_of_vpcs_are_known(region: Region, vpcs: list[VpcStack]) -> None:
    assert len(region.engine.networks()) == 3
    for guest in vpcs:
        assert await guest.run(lambda: told(IPV4)) == guest.spec.id
        assert await guest.run(lambda: hops(IPV4)) == {1}
        assert await guest.run(lambda: is_answered(IPV4, "10.0.0.2"))
    for name in region.network.vpcs():
        assert await region.engine.listen(name) == ()
        assert not await within(name, lambda: is_answered(IPV4))


async def test_nothing_else_is_there_in_a_vpc(region: Region, vpcs: list[VpcStack]) -> None:
    def listen() -> socket.socket:
        return socket.create_server(("", 8080))

    for name in region.network.vpcs():
        with await within(name, listen):
            for address in (IPV4, "169.254.254.1", "10.0.0.1"):
                for guest in vpcs:
                    with pytest.raises(OSError, match=r"timed out|refused|unreachable|rohibited"):
                        await guest.run(partial(connect, address, 8080))
    device = f"{region.network.name}-guest{vpcs[0].spec.id}"
    output("ip", "-n", device, "address", "add", "10.0.0.3/24", "dev", "eth0")
    assert not await vpcs[0].run(lambda: is_answered(IPV4, "10.0.0.3"))


async def test_a_guest_of_a_vpc_holds_few_connections(vpcs: list[VpcStack]) -> None:
    held = [await vpcs[0].run(lambda: connect(IPV4)) for _ in range(8)]
    try:
        with pytest.raises(TimeoutError):
            await vpcs[0].run(lambda: connect(IPV4))
        assert await vpcs[1].run(lambda: told(IPV4)) == vpcs[1].spec.id
    finally:
        for connection in held:
            connection.close()
