"""Name servers among others: transfers and notices between two of them."""

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import dns.message
import dns.opcode
import pytest
import pytest_asyncio
from dns.xfr import TransferError

from roost.clock import Clock
from roost.engines.listeners import Listener
from roost.engines.powerdns.backends import SqliteBackend
from roost.engines.simulated.domains import SimulatedDomains
from roost.resources.domains.engine import (
    Slave,
    TransferStatus,
    Zone,
    ZoneChange,
)
from tests.engines.dns_harness import (
    SOA,
    ServingEngine,
    answered,
    code,
    contents,
    make_powerdns,
    master_of,
    new_zone,
    own_address,
    refuse_without,
    rrset,
    transfer,
    within,
)
from tests.engines.harness import until


@dataclass(frozen=True)
class Server:
    engine: ServingEngine
    address: str


@dataclass(frozen=True)
class Pair:
    """Two servers at port 53 of addresses of their own, as in the world outside."""

    first: Server
    second: Server


def _engine(kind: str, state_dir: Path, listener: Listener) -> ServingEngine:
    if kind == "simulated":
        return SimulatedDomains(state_dir, 0, Clock(), (listener,))
    refuse_without(SqliteBackend())
    return make_powerdns(state_dir, SqliteBackend(), listener)


@pytest_asyncio.fixture(
    scope="module",
    params=[
        pytest.param(("simulated", "simulated"), id="simulated"),
        pytest.param(("powerdns", "powerdns"), marks=pytest.mark.powerdns, id="powerdns"),
        pytest.param(("simulated", "powerdns"), marks=pytest.mark.powerdns, id="mixed"),
    ],
)
async def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Pair]:
    servers = []
    for kind in request.param:
        listener = own_address()
        engine = _engine(kind, tmp_path_factory.mktemp("server"), listener)
        servers.append(Server(engine, listener.host))
    try:
        for server in servers:
            await server.engine.start()
        yield Pair(*servers)
    finally:
        for server in servers:
            await server.engine.shut_down()
            await server.engine.close()


def _followed(zone: Zone, master: Server) -> Zone:
    return replace(zone, owner="domain-200002", content=Slave((master.address,)), axfr_ips=())


async def _served(server: Server, zone: Zone) -> TransferStatus:
    async def status() -> TransferStatus:
        return await server.engine.transfer_status(zone.name)

    return await until(status, lambda status: status.serial is not None)


async def test_a_slave_follows_its_master(pair: Pair) -> None:
    """Both ways round: each server is once the master and once the slave."""
    for master, slave in ((pair.first, pair.second), (pair.second, pair.first)):
        zone = new_zone(rrset("www.@", "A", "192.0.2.1"), axfr_ips=(slave.address,))
        await master.engine.put_zone(zone)
        await slave.engine.put_zone(_followed(zone, master))
        assert await _served(slave, zone) == TransferStatus(SOA.serial)
        assert await contents(slave.engine, f"www.{zone.name}", "A") == {"192.0.2.1"}
        for number in (1, 2):
            record = within(zone.name, rrset("www.@", "A", f"192.0.2.{10 + number}"))
            soa = replace(SOA, serial=SOA.serial + number)
            await master.engine.put_rrsets(ZoneChange(zone.name, soa, (record,)))
            await answered(slave.engine, f"www.{zone.name}", "A", record.contents.__eq__)
        await slave.engine.put_zone(_followed(zone, master))
        assert await code(slave.engine, f"www.{zone.name}") == "NOERROR"
        await slave.engine.put_zone(replace(_followed(zone, master), active=False))
        assert await code(slave.engine, f"www.{zone.name}") == "REFUSED"


async def test_a_slave_serves_transfers_of_its_own(pair: Pair) -> None:
    zone = new_zone(rrset("www.@", "A", "192.0.2.1"), axfr_ips=(pair.second.address,))
    await pair.first.engine.put_zone(zone)
    slave = replace(_followed(zone, pair.first), axfr_ips=("127.0.0.9",))
    await pair.second.engine.put_zone(slave)
    await _served(pair.second, zone)
    assert len((await transfer(pair.second.engine, zone.name, "127.0.0.9")).nodes) == 2
    with pytest.raises(TransferError):
        await transfer(pair.second.engine, zone.name, "127.0.0.1")


async def test_a_slave_that_may_not_transfer_has_nothing(pair: Pair) -> None:
    zone = new_zone(rrset("www.@", "A", "192.0.2.1"))
    await pair.first.engine.put_zone(zone)
    await pair.second.engine.put_zone(_followed(zone, pair.first))
    assert (await pair.second.engine.transfer_status(zone.name)).serial is None
    await pair.first.engine.put_zone(replace(zone, axfr_ips=(pair.second.address,)))
    await pair.second.engine.retrieve(zone.name)
    assert (await _served(pair.second, zone)).serial == SOA.serial


async def test_a_slave_turns_to_new_masters_at_once(pair: Pair) -> None:
    zone = new_zone(rrset("www.@", "A", "192.0.2.1"), axfr_ips=(pair.second.address,))
    await pair.first.engine.put_zone(zone)
    lost = replace(_followed(zone, pair.first), content=Slave(("127.0.0.250",)))
    await pair.second.engine.put_zone(lost)
    await pair.second.engine.put_zone(_followed(zone, pair.first))
    assert (await _served(pair.second, zone)).serial == SOA.serial


async def test_each_change_is_told_to_those_who_may_transfer(pair: Pair) -> None:
    listener = own_address()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind((listener.host, listener.port))
        heard.setblocking(False)
        zone = new_zone(axfr_ips=("192.0.2.0/24", listener.host))
        await pair.second.engine.put_zone(zone)
        soa = replace(master_of(zone).soa, serial=SOA.serial + 1)
        async with asyncio.timeout(120):
            await _notice(heard, zone.name, pair.second)
            await pair.second.engine.put_rrsets(ZoneChange(zone.name, soa))
            await _notice(heard, zone.name, pair.second)


async def _notice(heard: socket.socket, zone: str, sender: Server) -> None:
    """Waits for one about the zone, and answers it."""
    while True:
        wire, source = await asyncio.get_running_loop().sock_recvfrom(heard, 4096)
        notice = dns.message.from_wire(wire)
        heard.sendto(dns.message.make_response(notice).to_wire(), source)
        if notice.question[0].name.to_text() == zone:
            assert notice.opcode() == dns.opcode.NOTIFY
            assert source[0] == sender.address
            return
