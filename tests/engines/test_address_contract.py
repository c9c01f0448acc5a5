"""What every engine owes its callers for addresses: guests send with their own, and no others."""

from collections.abc import AsyncIterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Network
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio

from roost.clock import Clock
from roost.engines.qemu.network.config import tap_name
from roost.engines.qemu.network.engines import NftablesAddresses
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.simulated.firewalls import Packet
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import AddressEngine, GuestAddresses
from tests.engines.firewall_harness import NftablesHarness, specs
from tests.engines.frames import Sender
from tests.engines.harness import Pools
from tests.engines.qemu_host import output

RANGE = IPv6Network("2001:db8:ffff:7::/64")


class AddressHarness(Protocol):
    """Two guests with three addresses each, and whether what one sends reaches the other."""

    specs: tuple[InstanceSpec, InstanceSpec]

    @property
    def engine(self) -> AddressEngine: ...

    async def open(self) -> None: ...

    async def reaches(self, sender: int, source: IPv4Address, target: IPv4Address) -> int | None:
        """Which of the guests gets what `sender` sends from `source`; None: nobody."""

    async def announce(self, sender: int, address: IPv4Address) -> None:
        """Gratuitous ARP of a guest, as keepalived and `arping -U` send it."""

    async def tamper(self, guest: int) -> None:
        """Somebody flushes the rules of a guest."""

    async def close(self) -> None: ...


class SimulatedAddressHarness:
    """Who may send decides the engine; shared addresses are with whoever announced them."""

    def __init__(self, state_dir: Path) -> None:
        self._instances = SimulatedInstances(state_dir, latency=0, clock=Clock())
        self.engine = self._instances.addresses
        self.specs = specs(Pools(0))
        self._announced = dict[IPv4Address, int]()

    async def open(self) -> None:
        for spec in self.specs:
            await self._instances.disks.make(DiskSpec(spec.id, spec.id, 64, "ext4"))
            await self._instances.start(spec)

    async def reaches(self, sender: int, source: IPv4Address, target: IPv4Address) -> int | None:
        found = [(await self.engine.list())[spec.id] for spec in self.specs]
        own = found[sender]
        if own is None or source not in own.ipv4 | own.shared:
            return None
        if target in self._announced:
            return self._announced[target]
        return next((i for i, each in enumerate(found) if each and target in each.ipv4), None)

    async def announce(self, sender: int, address: IPv4Address) -> None:
        guest = (await self.engine.list())[self.specs[sender].id]
        if guest is not None and address in guest.shared:
            self._announced[address] = sender

    async def tamper(self, guest: int) -> None:
        await self._instances.addresses.lose(self.specs[guest].id)

    async def close(self) -> None:
        await self._instances.close()


class NftablesAddressHarness:
    """Frames are written to the devices of the guests."""

    def __init__(self, state_dir: Path) -> None:
        self._ports = NftablesHarness(state_dir)
        self.network: GuestNetwork = self._ports.network
        self.engine = NftablesAddresses(self.network)
        self.specs = self._ports.specs

    async def open(self) -> None:
        await self._ports.open(neighbours=False)

    async def reaches(self, sender: int, source: IPv4Address, target: IPv4Address) -> int | None:
        packet = Packet(str(source), str(target), "UDP", 9)
        return await self._ports.delivered(self.specs[sender].id, packet)

    async def announce(self, sender: int, address: IPv4Address) -> None:
        spec = self.specs[sender]
        assert spec.ipv6 is not None
        frame = Sender(spec.mac, address, spec.ipv6.ip).arp_request(address)
        self._ports.write(spec.id, frame)

    async def tamper(self, guest: int) -> None:
        inside = f"--net=/run/netns/{self.network.name}"
        chain = f"guest_{self.specs[guest].id}"
        output("nsenter", inside, "nft", "flush", "chain", "bridge", "roost", chain)

    async def close(self) -> None:
        await self._ports.close()


_REAL = pytest.param("nftables", marks=pytest.mark.qemu)


@pytest_asyncio.fixture(params=["simulated", _REAL])
async def harness(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[AddressHarness]:
    kinds: dict[str, type[SimulatedAddressHarness | NftablesAddressHarness]]
    kinds = {"simulated": SimulatedAddressHarness, "nftables": NftablesAddressHarness}
    harness = kinds[request.param](tmp_path)
    await harness.open()
    yield harness
    await harness.close()


def own(harness: AddressHarness, guest: int) -> GuestAddresses:
    return harness.specs[guest].addresses


def first(harness: AddressHarness, guest: int) -> IPv4Address:
    return harness.specs[guest].ipv4[0].interface.ip


async def state(harness: AddressHarness, guest: int) -> GuestAddresses | None:
    return (await harness.engine.list())[harness.specs[guest].id]


@pytest.mark.spec("B networking 2 owner")
async def test_an_address_moves(harness: AddressHarness) -> None:
    """From the next packet on, in both directions."""
    moved, other = harness.specs[0].ipv4[1].interface.ip, first(harness, 1)
    assert await state(harness, 0) == own(harness, 0)
    assert await harness.reaches(0, moved, other) == 1
    assert await harness.reaches(1, moved, first(harness, 0)) is None
    assert await harness.reaches(1, other, moved) == 0
    less = replace(own(harness, 0), ipv4=own(harness, 0).ipv4 - {moved})
    more = replace(own(harness, 1), ipv4=own(harness, 1).ipv4 | {moved})
    for _ in range(2):
        await harness.engine.set(less)
        await harness.engine.set(more)
    assert [await state(harness, guest) for guest in (0, 1)] == [less, more]
    assert await harness.reaches(0, moved, other) is None
    assert await harness.reaches(1, moved, first(harness, 0)) == 0
    assert await harness.reaches(0, first(harness, 0), moved) == 1


@pytest.mark.spec("B networking 3")
async def test_a_shared_address_fails_over(harness: AddressHarness) -> None:
    """It is where it was announced last; who has no part in it announces in vain."""
    shared = harness.specs[0].ipv4[1].interface.ip
    unshared = harness.specs[0].ipv4[2].interface.ip
    await harness.engine.set(replace(own(harness, 0), shared=frozenset({shared})))
    await harness.engine.set(replace(own(harness, 1), shared=frozenset({shared})))
    source = first(harness, 0)
    for holder in (0, 1, 0, 1):
        await harness.announce(holder, shared)
        assert await harness.reaches(0, source, shared) == holder
    assert await harness.reaches(1, shared, source) == 0
    await harness.announce(1, unshared)
    assert await harness.reaches(1, first(harness, 1), unshared) == 0
    for guest in (0, 1):
        await harness.engine.set(own(harness, guest))
    assert await harness.reaches(1, shared, source) is None


async def test_what_was_changed_shows_and_is_mended(harness: AddressHarness) -> None:
    await harness.tamper(0)
    assert await state(harness, 0) is None
    assert await state(harness, 1) == own(harness, 1)
    await harness.engine.set(own(harness, 0))
    assert await state(harness, 0) == own(harness, 0)


async def test_a_range_comes_and_goes(harness: AddressHarness) -> None:
    with_range = replace(own(harness, 0), ranges=frozenset({RANGE}))
    for _ in range(2):
        await harness.engine.set(with_range)
        assert await state(harness, 0) == with_range
        assert await state(harness, 1) == own(harness, 1)
    await harness.engine.set(own(harness, 0))
    await harness.engine.set(replace(own(harness, 1), ranges=frozenset({RANGE})))
    assert await state(harness, 0) == own(harness, 0)


@pytest.mark.qemu
@pytest.mark.spec("B networking 2 range")
async def test_a_range_is_routed_to_its_guest(tmp_path: Path) -> None:
    """To its SLAAC address; the guest alone sends from it. A lost route shows."""
    harness = NftablesAddressHarness(tmp_path)
    await harness.open()
    try:
        name, slaac = harness.network.name, own(harness, 0).ipv6
        await harness.engine.set(replace(own(harness, 0), ranges=frozenset({RANGE})))
        route = ("ip", "-n", name, "-6", "route", "get", str(RANGE[7]))
        assert f"via {slaac} dev br0" in output(*route)
        rules = output(
            "nsenter", f"--net=/run/netns/{name}", "nft", "list", "table", "bridge", "roost"
        )
        _, _, rest = rules.partition("chain guest_100001 {")
        assert str(RANGE) in rest.partition("\n\t}")[0]
        assert rules.count(str(RANGE)) == 1
        output("ip", "-n", name, "-6", "route", "del", str(RANGE))
        assert await state(harness, 0) is None
        await harness.engine.set(replace(own(harness, 1), ranges=frozenset({RANGE})))
        await harness.engine.set(own(harness, 0))
        assert f"via {own(harness, 1).ipv6} dev br0" in output(*route)
        await harness.network.release(100_002)
        assert str(RANGE) not in output("ip", "-n", name, "-6", "route", "show", "dev", "br0")
    finally:
        await harness.close()


@pytest.mark.qemu
async def test_lost_counters(tmp_path: Path) -> None:
    """Of one guest, or all: they count again, from zero, and nobody else's do."""
    harness = NftablesAddressHarness(tmp_path)
    await harness.open()
    try:
        inside = ("nsenter", f"--net=/run/netns/{harness.network.name}")
        first_id, second_id = (spec.id for spec in harness.specs)
        assert await harness.reaches(1, first(harness, 1), first(harness, 0)) == 0
        before = (await harness.network.traffic())[second_id]
        tap = f'"{tap_name(first_id)}"'
        for map_, kind in (("ipv4_in", "in"), ("ipv4_out", "out")):
            table = ("bridge", "roost_traffic")
            output(*inside, "nft", "delete", "element", *table, map_, "{", tap, "}")
            output(*inside, "nft", "delete", "counter", *table, f"guest_{first_id}_ipv4_{kind}")
        assert await state(harness, 0) is None
        assert await state(harness, 1) == own(harness, 1)
        await harness.engine.set(own(harness, 0))
        assert await state(harness, 0) == own(harness, 0)
        assert (await harness.network.traffic())[second_id] == before
        output(*inside, "nft", "delete", "table", "bridge", "roost_traffic")
        assert set((await harness.engine.list()).values()) == {None}
        for guest in (0, 1):
            await harness.engine.set(own(harness, guest))
        assert await harness.reaches(0, first(harness, 0), first(harness, 1)) == 1
        counted = await harness.network.traffic()
        assert counted[first_id].ipv4_out > 0
        assert counted[second_id].ipv4_in > 0
    finally:
        await harness.close()


async def test_a_guest_that_is_off(harness: AddressHarness) -> None:
    await harness.engine.set(replace(own(harness, 0), id=100_009))
    assert set(await harness.engine.list()) == {100_001, 100_002}


@pytest.mark.qemu
async def test_lost_ways_to_a_guest_and_a_lost_table(tmp_path: Path) -> None:
    harness = NftablesAddressHarness(tmp_path)
    await harness.open()
    try:
        name, address = harness.network.name, str(first(harness, 0))
        for lost in ("neigh", "route"):
            output("ip", "-n", name, lost, "delete", address, "dev", "br0")
            assert await state(harness, 0) is None
            await harness.engine.set(own(harness, 0))
            assert await state(harness, 0) == own(harness, 0)
        output("nsenter", f"--net=/run/netns/{name}", "nft", "flush", "ruleset")
        assert set((await harness.engine.list()).values()) == {None}
        for guest in (0, 1):
            await harness.engine.set(own(harness, guest))
        assert await harness.reaches(0, first(harness, 0), first(harness, 1)) == 1
        assert await harness.reaches(0, first(harness, 1), first(harness, 1)) is None
        await harness.network.release(100_001)
        found = output("ip", "-n", name, "neigh", "show", "nud", "permanent")
        assert f"{address} " not in found + output("ip", "-n", name, "route")
    finally:
        await harness.close()


@pytest.mark.qemu
async def test_a_shared_address_is_led_to_its_last_guest(tmp_path: Path) -> None:
    harness = NftablesAddressHarness(tmp_path)
    await harness.open()
    try:
        name, address = harness.network.name, harness.specs[0].ipv4[1].interface.ip
        for guest in (0, 1):
            await harness.engine.set(replace(own(harness, guest), shared=frozenset({address})))
        await harness.network.release(100_001)
        assert f"{address} dev br0" in output("ip", "-n", name, "route")
        await harness.engine.set(own(harness, 1))
        assert f"{address} dev br0" not in output("ip", "-n", name, "route")
    finally:
        await harness.close()
