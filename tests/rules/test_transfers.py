"""Reading zones of other name servers, which may be slow, broken or malicious."""

import asyncio
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from typing import Any, get_args

import dns.exception
import dns.message
import dns.rdata
import dns.rdatatype
import dns.rrset
import pytest

from roost.clock import Clock
from roost.engines.simulated.domains import SimulatedDomains
from roost.resources.domains import transfer_client
from roost.resources.domains.engine import (
    Master,
    RRset,
    Soa,
    Zone,
)
from roost.resources.domains.parsing import Conversion, Parsed, Source, parse_zone_file
from roost.resources.domains.records import RecordType
from roost.resources.domains.rules import TOO_LARGE, is_private
from roost.resources.domains.settings import Dns, Server
from roost.resources.domains.transfer_client import (
    TransferError,
    TransferRefusedError,
    TransferTimeoutError,
    fetch,
    look_up,
    resolve,
)
from roost.resources.domains.wire_parsing import Message

pytestmark = pytest.mark.spec("B domains import")

ZONE = "zone.example"
ROWS = [
    (ZONE, "SOA", "ns.zone.example. me.zone.example. 1 2 3 4 5"),
    (ZONE, "NS", "ns.zone.example."),
    ("www.ZONE.example", "A", "192.0.2.1"),
    ("*.www.zone.example", "AAAA", "2001:db8::1"),
    ("a.b.c.zone.example", "MX", "10 mail.zone.example."),
    ("alias.zone.example", "CNAME", "www.zone.example."),
    ("txt.zone.example", "TXT", '"one" "two\\195\\169"'),
    ("_a._tcp.zone.example", "SRV", "1 2 3 www.zone.example."),
    ("7.zone.example", "PTR", "."),
    ("caa.zone.example", "CAA", '0 issue "ca.example"'),
    ("a\\.b.zone.example", "A", "192.0.2.2"),
    ("\\195\\169.zone.example", "TYPE65280", "\\# 2 beef"),
    ("elsewhere.test", "DS", "1 13 2 " + "00" * 32),
    (".", "A", "192.0.2.3"),
]


def wire() -> bytes:
    message = dns.message.make_response(dns.message.make_query(f"{ZONE}.", "AXFR"))
    message.answer = [
        dns.rrset.from_text(name if name == "." else f"{name}.", 300, "IN", kind, text)
        for name, kind, text in ROWS
    ]
    return message.to_wire()


def read(data: bytes) -> list[Source]:
    return list(Message(data).sources())


def test_all_types_are_read_as_dnspython_reads_them() -> None:
    message = dns.message.from_wire(wire(), one_rr_per_rrset=True)
    wanted = [Source.of(rrset.name, rrset.ttl, rrset[0]) for rrset in message.answer]
    found = read(wire())
    assert [source.name for source in found if source.name] == [
        source.name for source in wanted if source.name != "."
    ]
    kept = (*get_args(RecordType), "SOA")
    assert [(s.type, s.ttl, s.data) for s in found] == [
        (s.type, s.ttl, s.data if s.type in kept else None) for s in wanted
    ]


def test_broken_messages_are_no_valid_ones() -> None:
    """Cut anywhere, or with any byte of it set to what means something to DNS."""
    data = wire()
    for size in range(len(data)):
        with pytest.raises(dns.exception.DNSException):
            read(data[:size])
    for at in range(12, len(data)):
        for byte in (0, 0x3F, 0x40, 0xC0, 0xFF):
            try:
                read(data[:at] + bytes([byte]) + data[at + 1 :])
            except dns.exception.DNSException:
                continue


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.31.0.1"),
        *("192.0.0.8", "192.168.1.1", "224.0.0.1", "255.255.255.255"),
        *("::", "::1", "::127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::a00:1"),
        *("2001:0:1::1", "2002:a00:1::1", "fc00::1", "fe80::1", "fec0::1", "ff02::1"),
    ],
)
def test_private_addresses(address: str) -> None:
    assert is_private(address)


@pytest.fixture
def dns_(tmp_path: Any) -> Dns:
    engine = SimulatedDomains(tmp_path, 0, Clock(), None)
    return Dns(engine, ("ns1.example",), pools=(ip_network("198.18.0.0/16"),))


def near(dns_: Dns) -> Dns:
    """Where the loopback network may be asked, at any port."""
    return replace(dns_, private_networks=(ip_network("127.0.0.0/8"),))


UNREACHED = "No name server that sends zones was reached at ns.example"


async def test_what_a_name_resolves_to_is_asked_only_where_allowed(
    dns_: Dns, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []

    async def answer(host: str, resolver: object) -> list[str]:
        return found

    monkeypatch.setattr(transfer_client, "look_up", answer)
    server = Server("ns.example")
    found[:] = ["10.0.0.1", "203.0.113.1", "::ffff:127.0.0.1", "198.18.3.4", "127.0.0.1"]
    assert await resolve(server, dns_) == ["203.0.113.1"]
    assert await resolve(server, near(dns_)) == ["203.0.113.1", "127.0.0.1"]
    other = Server("ns.example", 5353)
    assert await resolve(other, near(dns_)) == ["127.0.0.1"]
    found[:] = [f"203.0.113.{n}" for n in range(100)]
    assert len(await resolve(server, dns_)) == 4
    for found[:] in ([], ["127.0.0.1", "::1", "64:ff9b::7f00:1"], ["198.18.3.4"]):
        with pytest.raises(TransferRefusedError, match=UNREACHED):
            await resolve(server, dns_)


async def test_names_are_looked_up_at_the_resolver(dns_: Dns) -> None:
    """And not in this machine's file of hosts."""
    name = "ns.example."
    soa = Soa("ns.example.", "me.example.", 1, 300, 300, 300, 300, 300)
    rrsets = (
        RRset(name, "A", 300, frozenset(["192.0.2.1"])),
        RRset(name, "AAAA", 300, frozenset(["2001:db8::1"])),
    )
    engine = dns_.engine
    assert isinstance(engine, SimulatedDomains)
    await engine.start()
    try:
        await engine.put_zone(Zone("example.", "x", Master(soa, rrsets)))
        resolver = Server(*engine.listening[0])
        assert await look_up("ns.example", resolver) == ["192.0.2.1", "2001:db8::1"]
        assert await look_up("other.example", resolver) == []
        assert await look_up("localhost", resolver) == []
    finally:
        await engine.close()


class Odd:
    """A server of TCP that says `said` to whoever asks, and then nothing for as long."""

    def __init__(self, said: bytes, ends: bool) -> None:
        self._said = said
        self._ends = ends
        self.left = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.read(4096)
        writer.write(self._said.replace(b"ID", asked[2:4]))
        if not self._ends:
            await reader.read(1)
        writer.close()
        self.left.set()


@asynccontextmanager
async def served(said: bytes = b"", ends: bool = False) -> AsyncIterator[tuple[Server, Odd]]:
    odd = Odd(said, ends)
    server = await asyncio.start_server(odd.serve, "127.0.0.1", 0)
    async with server:
        yield Server("127.0.0.1", server.sockets[0].getsockname()[1]), odd


async def test_all_addresses_together_have_one_limit_of_time(
    dns_: Dns, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(host: str, resolver: object) -> list[str]:
        return [f"127.0.0.{n}" for n in range(1, 5)]

    monkeypatch.setattr(transfer_client, "look_up", answer)
    async with served() as (server, odd):
        with pytest.raises(TransferTimeoutError, match=UNREACHED):
            await fetch(ZONE, Server("ns.example", server.port), near(dns_), 0.3)
        await odd.left.wait()


def framed(wire: bytes) -> bytes:
    return len(wire).to_bytes(2) + wire


ODD = [
    (b"", UNREACHED),
    (b"HTTP/1.1 400 Bad Request\r\n\r\n" * 1000, UNREACHED),
    (framed(b"ID\x84\x00" + bytes(8)), "refused the transfer"),
    (framed(b"ID\x84\x05" + bytes(8)), r"refused the transfer \(REFUSED\)"),
    (framed(b"ID\x84\x00\0\0\0\1\0\0\0\0" + bytes(5)), UNREACHED),
    (framed(b"XX\x84\x00" + bytes(8)), UNREACHED),
]


@pytest.mark.parametrize(("said", "reason"), ODD)
async def test_what_is_no_transfer(dns_: Dns, said: bytes, reason: str) -> None:
    """What others than name servers say is told as what nobody says, a closed port included."""
    async with served(said, ends=True) as (server, _):
        with pytest.raises(TransferError, match=reason.replace("ns.example", "127.0.0.1")):
            await fetch(ZONE, server, near(dns_), 5)
    with pytest.raises(TransferError, match=UNREACHED.replace("ns.example", "127.0.0.1")):
        await fetch(ZONE, server, near(dns_), 5)


async def test_a_transfer_ends_when_it_is_cancelled(dns_: Dns) -> None:
    """Nothing of it goes on: no thread waits, and the other side sees the end."""
    async with served() as (server, odd):
        task = asyncio.create_task(fetch(ZONE, server, near(dns_), 60))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(60):
            await odd.left.wait()


async def test_an_endless_zone_is_cut_off(dns_: Dns) -> None:
    soa = "ns.zone.example. me.zone.example. 1 2 3 4 5"
    rows = [(f"{ZONE}.", "SOA", soa), *[(f"h{n}.{ZONE}.", "A", "192.0.2.1") for n in range(999)]]
    message = dns.message.make_response(dns.message.make_query(f"{ZONE}.", "AXFR"))
    message.answer = [dns.rrset.from_text(n, 300, "IN", kind, text) for n, kind, text in rows]
    wire = message.to_wire()
    message.answer.pop(0)
    more = message.to_wire()
    said = framed(b"ID" + wire[2:]) + framed(b"ID" + more[2:]) * 60
    async with served(said) as (server, _):
        with pytest.raises(TransferRefusedError, match="too large"):
            await fetch(ZONE, server, near(dns_), 30)


def test_names_of_endless_pointers_are_refused_at_once() -> None:
    """dnspython would follow 8,000 of them for each of 3,000 records."""
    chain = b"".join((0xC000 | 26 + 2 * n).to_bytes(2) for n in range(8_000))
    head = b"\0\0\x84\0\0\0" + (3_001).to_bytes(2) + bytes(4)
    record = b"\0" + struct.pack("!HHIH", dns.rdatatype.TXT, 1, 300, len(chain) + 3)
    first = head + record + b"\0\0\0" + chain
    last = (0xC000 | 26 + 2 * 7_999).to_bytes(2)
    mx = b"\0" + struct.pack("!HHIH", dns.rdatatype.MX, 1, 300, 4) + b"\0\1" + last
    began = time.process_time()
    with pytest.raises(dns.exception.DNSException):
        read(first + mx * 3_000)
    grown = b"".join(
        b"\0" + struct.pack("!HHIH", 2, 1, 300, 2) + (0xC000 | 26 + 2 * n).to_bytes(2)
        for n in range(0, 8_000, 100)
    )
    with pytest.raises(dns.exception.DNSException):
        read(first + grown + mx * 2_900)
    assert time.process_time() - began < 2


def parse(text: str, dns_: Dns) -> Parsed:
    return parse_zone_file(text, Conversion(ZONE, dns_))


def test_a_target_of_one_label_stays_outside_the_zone(dns_: Dns) -> None:
    text = "_a._tcp SRV 1 2 3 localhost.\n_b._tcp SRV 1 2 3 sip\n_c._tcp SRV 0 0 0 ."
    parsed = parse(text, dns_)
    assert parsed.refusals == []
    assert [record.content for record in parsed.records] == [
        "1 2 3 localhost.",
        f"1 2 3 sip.{ZONE}.",
        "0 0 0 .",
    ]


def test_services_are_read_off_names_where_they_are_said(dns_: Dns) -> None:
    text = "_a._tcp SRV 1 2 3 b.c.\n_a._tcp.d SRV 1 2 3 b.c.\nsip SRV 1 2 3 b.c.\n@ SRV 1 2 3 b.c."
    found = [(r.name, r.service, r.protocol) for r in parse(text, dns_).records]
    assert found == [
        ("_a._tcp", "_a", "_tcp"),
        ("_a._tcp.d", "_a", "_tcp"),
        ("sip", None, None),
        ("", None, None),
    ]


def test_texts_of_a_zone_stay_what_they_are(dns_: Dns) -> None:
    r"""One that has quotation marks itself would be unquoted when it is answered."""
    text = 'a TXT "\\"v=x\\""\nb TXT "v=x"\nc TXT v=x\nd TXT "one" "two"'
    contents = [record.content for record in parse(text, dns_).records]
    assert contents == ['"\\"v=x\\""', '"v=x"', '"v=x"', '"onetwo"']


def test_records_outside_the_zone_are_refused(dns_: Dns) -> None:
    """Whatever another server sends."""
    conversion = Conversion(ZONE, dns_)
    conversion.add(read(wire()))
    parsed = conversion.end()
    refused = {refusal.partition(" ")[0] for refusal in parsed.refusals}
    assert {"elsewhere.test.", "."} <= refused
    assert len(parsed.records) == len(ROWS) - 1 - len(parsed.refusals)


def test_thousands_of_records_of_one_name_are_compared_quickly(dns_: Dns) -> None:
    """Also where each is one that others are to be compared with."""
    lines = [f"a MX {n % 256} m{n}.example." for n in range(2_000)]
    lines += [f"a A 10.0.{n >> 8}.{n & 255}" for n in range(2_000)]
    began = time.process_time()
    assert parse("\n".join(lines), dns_).refusals == []
    assert len(parse("\n".join([*lines, lines[7]]), dns_).records) == len(lines)
    assert time.process_time() - began < 10


def test_a_zone_has_a_size(dns_: Dns) -> None:
    conversion = Conversion(ZONE, dns_)
    text = dns.rdata.from_text("IN", "TXT", " ".join([f'"{"x" * 255}"'] * 200))
    conversion.add(Source(f"t{n}.{ZONE}", "TXT", 300, text) for n in range(100))
    assert conversion.end().refusals == [TOO_LARGE]
