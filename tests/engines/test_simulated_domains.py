"""What only the simulated name server does: planned faults, latencies, saved states, turns."""

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import dns.message
import dns.query
import dns.rcode
import pytest
import pytest_asyncio

from roost.clock import Clock
from roost.core.engine import EngineError
from roost.engines.listeners import Listener
from roost.engines.simulated.domains import DomainOperation, SimulatedDomains
from roost.engines.simulated.nameserver.state import Zones
from roost.engines.simulated.state import Documents, StateFile
from roost.resources.domains.engine import Slave, Zone, ZoneChange
from tests.engines.dns_harness import (
    SOA,
    answered,
    ask,
    code,
    contents,
    new_zone,
    own_listener,
    rrset,
    transfer,
)


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[SimulatedDomains]:
    engine = SimulatedDomains(tmp_path, 0, Clock(), None)
    await engine.start()
    yield engine
    await engine.close()


@pytest.fixture
def zone() -> Zone:
    return new_zone(rrset("www.@", "A", "192.0.2.1"))


async def _call(engine: SimulatedDomains, operation: DomainOperation, zone: Zone) -> None:
    match operation:
        case "put_zone":
            await engine.put_zone(zone)
        case "put_rrsets":
            await engine.put_rrsets(ZoneChange(zone.name, SOA))
        case "delete_zone":
            await engine.delete_zone(zone.name)
        case "inspect":
            await engine.inspect(zone.name)
        case "retrieve":
            await engine.retrieve(zone.name)


@pytest.mark.parametrize("operation", SimulatedDomains.operations)
async def test_a_planned_fault_fails_as_many_calls_as_asked(
    engine: SimulatedDomains, zone: Zone, operation: DomainOperation
) -> None:
    if operation == "retrieve":
        zone = replace(zone, content=Slave(("127.0.0.250",)))
    await engine.put_zone(zone)
    before = await engine.inspect(zone.name)
    await engine.plan.fail(operation, "The disk is full", calls=2)
    for _ in range(2):
        with pytest.raises(EngineError, match=r"^The disk is full$"):
            await _call(engine, operation, zone)
    assert await engine.inspect(zone.name) == before
    await _call(engine, operation, zone)


async def test_a_large_zone_is_transferred(engine: SimulatedDomains) -> None:
    """By bytes: some RRsets fill a message, of others it holds hundreds."""
    texts = [f'"{"x" * 255}" ' * 250 + f'"{n}"' for n in range(3)]
    zone = new_zone(
        *(rrset(f"t{n}.@", "TXT", text) for n, text in enumerate(texts)),
        rrset("many.@", "TXT", *(f'"{"y" * 200}{n}"' for n in range(250))),
        *(rrset(f"a{n}.@", "A", "192.0.2.1") for n in range(3_000)),
    )
    await engine.put_zone(replace(zone, axfr_ips=("127.0.0.1",)))
    found = await transfer(engine, zone.name)
    assert len(found.nodes) == 3_000 + 3 + 2
    for n, text in enumerate(texts):
        name = dns.name.from_text(f"t{n}.{zone.name}")
        assert found.find_rdataset(name, "TXT")[0].to_text() == text


async def test_a_zone_is_not_read_again_for_each_question(
    engine: SimulatedDomains, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its version is, until it changes."""
    zone = new_zone(rrset("www.@", "A", "192.0.2.1"))
    await engine.put_zone(zone)
    read: list[str] = []
    unwatched = Documents.read

    def watched(documents: Documents, kind: str, name: str) -> str | None:
        found = unwatched(documents, kind, name)
        if kind == "zone" and found is not None:
            read.append(name)
        return found

    monkeypatch.setattr(Documents, "read", watched)
    www = f"www.{zone.name}"
    await asyncio.gather(*(ask(engine, www, "A") for _ in range(50)))
    assert read == [zone.name]
    await engine.put_rrsets(ZoneChange(zone.name, SOA, put=(rrset(www, "A", "192.0.2.2"),)))
    assert await contents(engine, www, "A") == {"192.0.2.2"}


async def test_a_change_takes_its_time(engine: SimulatedDomains, zone: Zone) -> None:
    await engine.plan.set_latency(60, "put_zone")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await engine.put_zone(zone)
    assert await engine.inspect(zone.name) is None


async def test_a_snapshot_brings_back_zones_keys_and_plans(
    engine: SimulatedDomains, zone: Zone
) -> None:
    assert not isinstance(zone.content, Slave)
    zone = replace(zone, content=replace(zone.content, dnssec=True))
    await engine.put_zone(zone)
    await engine.plan.fail("retrieve", "stuck")
    saved, keys = await engine.snapshot(), await engine.ds_records(zone.name)
    await engine.reset()
    assert await engine.zones() == []
    assert await engine.plan.faults() == {}
    assert await code(engine, zone.name, "SOA") == "REFUSED"
    await engine.restore(saved)
    assert await engine.inspect(zone.name) == zone
    assert await engine.ds_records(zone.name) == keys
    assert await contents(engine, f"www.{zone.name}", "A") == {"192.0.2.1"}
    with pytest.raises(ValueError, match="JSON"):
        await engine.restore(b"not a snapshot")


async def test_another_process_takes_over(
    engine: SimulatedDomains, zone: Zone, tmp_path: Path
) -> None:
    other = SimulatedDomains(tmp_path, 0, Clock(), None)
    await other.start()
    await other.put_zone(zone)
    assert await contents(engine, f"www.{zone.name}", "A") == {"192.0.2.1"}
    await engine.close()
    await answered(other, f"www.{zone.name}", "A", bool)
    await other.close()


async def test_a_port_that_is_taken_is_changed_or_named(
    engine: SimulatedDomains, zone: Zone, tmp_path: Path
) -> None:
    (host, port), *_ = engine.listening
    automatic = SimulatedDomains(tmp_path / "automatic", 0, Clock(), None)
    (tmp_path / "automatic").mkdir()
    (tmp_path / "automatic" / "domains.listener").write_text(f"{host}:{port}")
    await automatic.start()
    assert automatic.listening != engine.listening
    await automatic.close()
    fixed = SimulatedDomains(tmp_path / "fixed", 0, Clock(), (Listener(host, port),))
    with pytest.raises(EngineError, match="cannot listen"):
        await fixed.start()
    await fixed.close()


async def test_what_a_slave_has_transferred_expires(tmp_path: Path, zone: Zone) -> None:
    """Half a day is nothing, two weeks are too much."""
    clock = Clock()
    slave = replace(zone, content=Slave(("127.0.0.250",)))
    engine = SimulatedDomains(tmp_path, 0, clock, None)
    await engine.put_zone(slave)
    state = StateFile(tmp_path / "domains.sqlite3")
    text = f"{zone.name} 600 IN SOA {SOA.content}\n{zone.name} 600 IN NS ns1.roost.test."
    await Zones(state, clock).set_copy(zone.name, text)
    clock.advance(timedelta(hours=12))
    assert (await engine.transfer_status(zone.name)).serial == SOA.serial
    clock.advance(timedelta(days=15))
    assert (await engine.transfer_status(zone.name)).serial is None
    state.close()
    await engine.close()


async def test_nonsense_is_no_end(engine: SimulatedDomains, zone: Zone) -> None:
    await engine.put_zone(zone)
    host, port = engine.listening[0]
    for wire in (b"", b"x" * 11, b"\0" * 12, b"\xff" * 40):
        with pytest.raises(dns.exception.Timeout):
            await asyncio.to_thread(_send, wire, host, port)
    assert await code(engine, zone.name, "SOA") == "NOERROR"
    update = dns.message.make_query(zone.name, "AXFR")
    answer = await asyncio.to_thread(dns.query.udp, update, host, 2, port)
    assert answer.rcode() == dns.rcode.REFUSED


async def test_an_answer_too_long_for_udp_is_given_over_tcp(engine: SimulatedDomains) -> None:
    zone = new_zone(rrset("@", "TXT", *(f'"{number}{"x" * 200}"' for number in range(40))))
    await engine.put_zone(zone)
    assert len((await ask(engine, zone.name, "TXT")).answer[0]) == 40


async def test_a_listener_of_the_operators_is_kept(tmp_path: Path) -> None:
    listener = own_listener()
    engine = SimulatedDomains(tmp_path, 0, Clock(), (listener,))
    await engine.start()
    assert engine.listening == ((listener.host, listener.port),)
    assert await code(engine, "nothing.test.") == "REFUSED"
    await engine.close()


def _send(wire: bytes, host: str, port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(0.1)
        client.sendto(wire, (host, port))
        try:
            client.recv(1)
        except TimeoutError:
            raise dns.exception.Timeout from None
