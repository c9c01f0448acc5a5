"""Reading zones of other name servers, which may be slow, broken or malicious."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import dns.exception
import dns.message
import dns.rrset
import pytest

from roost.clock import Clock
from roost.engines.simulated.domains import SimulatedDomains
from roost.resources.domains import transfers
from roost.resources.domains.dns import Dns, Server
from roost.resources.domains.parsing import convert, parse_zone_file
from roost.resources.domains.rules import is_private
from roost.resources.domains.sources import Source
from roost.resources.domains.transfers import (
    TransferError,
    TransferRefusedError,
    fetch,
    resolve,
)
from roost.resources.domains.wire import Message

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
    assert [(s.type, s.ttl, s.data) for s in found] == [(s.type, s.ttl, s.data) for s in wanted]


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
    return Dns(SimulatedDomains(tmp_path, 0, Clock(), None), ("ns1.example",))


def test_what_a_name_resolves_to_is_asked_only_where_allowed(
    dns_: Dns, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []

    def answer(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    server = Server("ns.example")
    found[:] = ["10.0.0.1", "203.0.113.1", "::ffff:127.0.0.1", "fe80::1%eth0"]
    assert resolve(server, dns_) == ["203.0.113.1"]
    found[:] = [f"203.0.113.{n}" for n in range(100)]
    assert len(resolve(server, dns_)) == 4
    found[:] = ["127.0.0.1", "::1", "64:ff9b::7f00:1"]
    with pytest.raises(TransferRefusedError, match="no address that may be asked"):
        resolve(server, dns_)


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_all_addresses_together_have_one_limit_of_time(
    silent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "SECONDS", 0.3)
    began = time.monotonic()
    with pytest.raises(TransferError, match="did not answer in time"):
        fetch(ZONE, Server("ns.example", silent), ["127.0.0.1"] * 20)
    assert time.monotonic() - began < 2


def test_a_target_of_one_label_stays_outside_the_zone() -> None:
    text = "_a._tcp SRV 1 2 3 localhost.\n_b._tcp SRV 1 2 3 sip\n_c._tcp SRV 0 0 0 ."
    parsed = parse_zone_file(text, ZONE, ())
    assert parsed.refusals == []
    assert [record.content for record in parsed.records] == [
        "1 2 3 localhost.",
        f"1 2 3 sip.{ZONE}.",
        "0 0 0 .",
    ]


def test_records_outside_the_zone_are_refused() -> None:
    """Whatever another server sends."""
    parsed = convert(read(wire()), ZONE, ())
    refused = {refusal.partition(" ")[0] for refusal in parsed.refusals}
    assert {"elsewhere.test.", "."} <= refused
    assert len(parsed.records) == len(ROWS) - 1 - len(parsed.refusals)
