"""Domains from zone files and from other name servers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from roost.clock import Clock
from roost.engines.simulated.domains import SimulatedDomains
from roost.resources.domains import queries, service, transfer_client
from roost.resources.domains.bodies import UpdateDomain
from roost.resources.domains.engine import (
    Master,
    RRset,
    Soa,
    Zone,
)
from roost.resources.domains.jobs import keep_import
from roost.resources.domains.parsing import Conversion, Parsed, parse_zone_file
from roost.resources.domains.rules import MAX_IMPORTS
from roost.resources.domains.service import TAKEN, TOO_MANY
from roost.resources.domains.settings import (
    NAMESERVER_REASON,
    OWN_REASON,
    PORT_REASON,
    PRIVATE_REASON,
    Dns,
)
from roost.resources.domains.transfer_client import TransferTimeoutError
from tests.api.conftest import Account
from tests.api.dns_servers import Served
from tests.jobs.domain_scenarios import add_domain
from tests.support.client import Answer, Client, Json, until
from tests.support.resolving import answers, told

pytestmark = pytest.mark.spec("B domains import")

ZONE_FILE = """
$ORIGIN {zone}.
$TTL 3600
@ 7200 IN SOA ns.old.example. john\\.doe.old.example. 3000000000 28800 7200 604800 300
@ IN NS ns1.roost.internal.
  IN NS ns.old.example.
www 300 IN A 192.0.2.1
    IN AAAA 2001:DB8::1
mail IN MX 10 mx.old.example. ; a comment
@ IN MX 0 .
txt IN TXT ( "one "
    "two" )
_sip._tcp 60 IN SRV 1 2 3 sip
_sip._udp.voice IN SRV 1 2 3 sip.old.example.
alias IN CNAME www
*.wild IN CNAME www
@ IN CAA 0 issue "ca.example"
7 IN PTR host.old.example.
www.{zone}. IN RRSIG A 13 3 300 20300101000000 20200101000000 1 {zone}. AAAA
"""


async def finished(client: Client) -> None:
    assert {event["status"] for event in await told(client)} == {"finished"}


@pytest.fixture
def zone(served: Served, request: pytest.FixtureRequest) -> str:
    return f"{request.function.__name__.replace('_', '-')}-{served.engine}.example"


async def test_a_zone_file(served: Served, zone: str) -> None:
    client = served.client
    body = {"domain": zone, "zone_file": ZONE_FILE.replace("{zone}", zone)}
    domain = await client.post("/domains/import", body)
    wanted = {
        "type": "master",
        "status": "active",
        "soa_email": "john.doe@old.example",
        "refresh_sec": 28800,
        "retry_sec": 7200,
        "expire_sec": 604800,
        "ttl_sec": 0,
    }
    assert {name: domain[name] for name in wanted} == wanted
    await finished(client)
    (event,) = await told(client)
    assert event["action"] == "dns_zone_import"
    for owner, kind, found in (
        ("", "NS", ["ns.old.example.", "ns1.roost.internal.", "ns2.roost.internal."]),
        ("www.", "A", ["192.0.2.1"]),
        ("www.", "AAAA", ["2001:db8::1"]),
        ("mail.", "MX", ["10 mx.old.example."]),
        ("", "MX", ["0 ."]),
        ("txt.", "TXT", ['"one two"']),
        ("_sip._tcp.", "SRV", [f"1 2 3 sip.{zone}."]),
        ("_sip._udp.voice.", "SRV", ["1 2 3 sip.old.example."]),
        ("alias.", "CNAME", [f"www.{zone}."]),
        ("*.wild.", "CNAME", [f"www.{zone}."]),
        ("", "CAA", ['0 issue "ca.example"']),
        ("7.", "PTR", ["host.old.example."]),
    ):
        assert await answers(served.server, f"{owner}{zone}", kind) == found
    (soa,) = await answers(served.server, zone, "SOA")
    assert int(soa.split()[2]) > 3_000_000_000, "secondaries of the old server would not follow"
    records = (await client.get(f"/domains/{domain['id']}/records"))["data"]
    assert {r["ttl_sec"] for r in records if r["type"] == "A"} == {300}
    assert {r["ttl_sec"] for r in records if r["type"] in ("AAAA", "PTR", "TXT")} == {3600}
    await check_export(client, zone, domain, records)


async def check_export(client: Client, zone: str, domain: Json, records: list[Json]) -> None:
    """What is exported can be imported."""
    lines = (await client.get(f"/domains/{domain['id']}/zone-file"))["zone_file"]
    text = "\n".join(lines).replace(zone, f"copy-{zone}")
    copy = await client.post("/domains/import", {"domain": f"copy-{zone}", "zone_file": text})
    copies = (await client.get(f"/domains/{copy['id']}/records"))["data"]
    assert [(r["type"], r["name"], r["priority"]) for r in copies] == sorted(
        ((r["type"], r["name"], r["priority"]) for r in records),
        key=lambda row: (row[1] != "", row[1], row[0]),
    )


REFUSED = [
    ("www A 192.0.2.1\nweb A 192.0.2.\n", ["line 2: "]),
    ("a TLSA 3 1 1 " + "00" * 32, ["line 1: a.{zone}. TLSA: records of this type are not kept"]),
    ("a A 192.0.2.1\n\nb.example.net. A 192.0.2.1", ["line 3: b.example.net. A: it lies outside"]),
    (
        "a CNAME b.example.\na A 192.0.2.1",
        ["line 2: a.{zone}. A: A CNAME record must be the only"],
    ),
    ("a MX 300 b.example.", ["line 1: a.{zone}. MX: priority: Must be 0-255"]),
    ("-sip SRV 1 2 3 b.example.", ["line 1: -sip.{zone}. SRV: name: "]),
    ("a CAA 64 issue b.example", ["line 1: a.{zone}. CAA: flags: "]),
    ('a CAA 128 policy "b"', ["line 1: a.{zone}. CAA: tag: "]),
    ('a TXT "\\255"', ["line 1: a.{zone}. TXT: target: Must be Unicode text"]),
    ("a\\.b A 192.0.2.1", ["line 1: a\\.b.{zone}. A: name: "]),
    ("@ CNAME b.example.", ["line 1: {zone}. CNAME: name: Must be below the domain"]),
    (
        "a DS 1 13 2 " + "00" * 32 + "\nb LOC 1 N 1 E 1m",
        ["line 1: a.{zone}. DS", "line 2: b.{zone}. LOC"],
    ),
    ("$INCLUDE /etc/passwd", ["line 1: zone file directive '$INCLUDE' is not allowed"]),
    ("$GENERATE 1-100000000 h$ A 10.0.0.1", ["line 1: zone file directive '$GENERATE'"]),
    ("a SOA b. c. 1 2 3 4 5", ["line 1: a.{zone}. SOA: records of this type are not kept"]),
    ("a A (", ["line 1: "]),
]


@pytest.mark.parametrize(("text", "reasons"), REFUSED)
async def test_refused_records_are_named(
    client: Client, account: Account, text: str, reasons: list[str]
) -> None:
    """By line, name and type; nothing is imported then."""
    name = f"refused-{account.id}.example"
    answer = await client.send("POST", "/domains/import", {"domain": name, "zone_file": text})
    assert answer.status == 400
    assert [field for field, _ in answer.problems] == ["zone_file"] * len(reasons)
    for (_, reason), start in zip(answer.problems, reasons, strict=True):
        assert reason.startswith(start.replace("{zone}", name)), reason
    assert (await client.get("/domains"))["results"] == 0
    assert (await client.get("/account/events"))["results"] == 0


async def test_a_critical_record_stays_critical(served: Served) -> None:
    """The API has no word for it: changes and copies keep it, as name servers answer."""
    client, server, name = served.client, served.server, f"critical-{served.engine}.example"
    body = {"domain": name, "zone_file": '@ CAA 128 issue "a.example"\n@ CAA 0 iodef "b.example"'}
    domain = await client.post("/domains/import", body)
    path = f"/domains/{domain['id']}"
    await told(client)
    wanted = ['0 iodef "b.example"', '128 issue "a.example"']
    assert sorted(await answers(server, name, "CAA")) == wanted
    [row] = (await client.get(f"{path}/records", filter={"tag": "issue"}))["data"]
    assert "critical" not in row
    row = await client.put(f"{path}/records/{row['id']}", {**row, "target": "c.example"})
    await client.post(f"{path}/clone", {"domain": f"copy-{name}"})
    await told(client)
    wanted[1] = '128 issue "c.example"'
    for zone in (name, f"copy-{name}"):
        assert sorted(await answers(server, zone, "CAA")) == wanted
    lines = (await client.get(f"{path}/zone-file"))["zone_file"]
    assert any('128 issue "c.example"' in line for line in lines)


async def test_a_record_that_is_said_twice_is_one(client: Client, account: Account) -> None:
    """With the shorter TTL (RFC 2181, 5); the same text in another case is the same name."""
    name = f"twice-{account.id}.example"
    lines = ["a 3600 A 192.0.2.1", "a 300 A 192.0.2.1", "b MX 10 mx", "B MX 10 MX", "b MX 20 mx"]
    body = {"domain": name, "zone_file": "\ufeff$ORIGIN " + f"{name}.\n" + "\n".join(lines)}
    domain = await client.post("/domains/import", body)
    rows = (await client.get(f"/domains/{domain['id']}/records"))["data"]
    assert [(row["type"], row["priority"]) for row in rows] == [("A", 0), ("MX", 10), ("MX", 20)]
    assert rows[0]["ttl_sec"] == 300


async def test_odd_zone_files(client: Client, account: Account) -> None:
    """Without a TTL, an SOA or any record; with the names of other lines."""
    for number, (text, count) in enumerate(
        (("", 0), ("; nothing", 0), ("@ A 192.0.2.1", 1), ("a A 192.0.2.1\n A 192.0.2.2", 2))
    ):
        name = f"odd{number}-{account.id}.example"
        domain = await client.post("/domains/import", {"domain": name, "zone_file": text})
        assert domain["soa_email"] == f"hostmaster@{name}"
        page = await client.get(f"/domains/{domain['id']}/records")
        assert page["results"] == count


BODIES = [
    (
        {},
        [("domain", "domain is required"), ("remote_nameserver", "remote_nameserver is required")],
    ),
    (
        {"zone_file": "", "remote_nameserver": "192.0.2.1"},
        [("remote_nameserver", "Must not be given together with zone_file")],
    ),
    *(
        ({"remote_nameserver": text}, [("remote_nameserver", NAMESERVER_REASON)])
        for text in (
            "",
            "ns1",
            "a b.example",
            "192.0.2.1:0",
            "192.0.2.1:65536",
            "a.b:x",
            "[a.b]:53",
            "n" * 255,
        )
    ),
    *(
        ({"remote_nameserver": text}, [("remote_nameserver", reason)])
        for text, reason in (
            ("203.0.113.1:5353", PORT_REASON),
            ("ns.example.com:8080", PORT_REASON),
            ("198.51.100.7", OWN_REASON),
            ("2001:db8:100::7", OWN_REASON),
        )
    ),
    *(
        ({"remote_nameserver": text}, [("remote_nameserver", PRIVATE_REASON)])
        for text in ("127.0.0.1", "10.0.0.1:5353", "::1", "[fe80::1]:53", "169.254.169.254")
    ),
]


@pytest.mark.parametrize(("body", "problems"), BODIES)
async def test_bodies(client: Client, account: Account, body: Json, problems: Json) -> None:
    if body:
        body = {"domain": f"bodies-{account.id}.example", **body}
    answer = await client.send("POST", "/domains/import", body)
    assert (answer.status, answer.problems) == (400, problems)


@pytest.fixture
async def foreign(tmp_path: Path) -> AsyncIterator[SimulatedDomains]:
    """Another name server."""
    engine = SimulatedDomains(tmp_path, 0, Clock(), None)
    await engine.start()
    yield engine
    await engine.close()


async def hold(engine: SimulatedDomains, zone: str, *rrsets: RRset, allowed: bool = True) -> str:
    """Give the other name server a zone; its own address."""
    soa = Soa("ns.old.example.", "me.old.example.", 2026112001, 3600, 600, 86400, 300, 300)
    content = Master(soa, (RRset(f"{zone}.", "NS", 300, frozenset(["ns.old.example."])), *rrsets))
    ips = ("127.0.0.1",) if allowed else ()
    await engine.put_zone(Zone(f"{zone}.", "other", content, ips))
    host, port = engine.listening[0]
    return f"{host}:{port}"


@pytest.mark.spec("B domains import transfer")
async def test_a_transfer(served: Served, zone: str, foreign: SimulatedDomains) -> None:
    client = served.client
    remote = await hold(
        foreign,
        zone,
        RRset(f"www.{zone}.", "A", 300, frozenset(["192.0.2.1", "192.0.2.2"])),
        RRset(f"big.{zone}.", "TXT", 300, frozenset([f'"{"x" * 255}" "{n}"' for n in range(200)])),
    )
    domain = await client.post("/domains/import", {"domain": zone, "remote_nameserver": remote})
    await finished(client)
    domain = await client.get(f"/domains/{domain['id']}")
    assert (domain["soa_email"], domain["refresh_sec"]) == ("me@old.example", 3600)
    assert await answers(served.server, f"www.{zone}", "A") == ["192.0.2.1", "192.0.2.2"]
    assert len(await answers(served.server, f"big.{zone}", "TXT")) == 200
    nameservers = ["ns.old.example.", "ns1.roost.internal.", "ns2.roost.internal."]
    assert await answers(served.server, zone, "NS") == nameservers
    (soa,) = await answers(served.server, zone, "SOA")
    assert int(soa.split()[2]) > 2026112001


@pytest.mark.spec("B domains import transfer")
async def test_transfers_that_fail(
    served: Served, zone: str, foreign: SimulatedDomains, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Are refused with the reason, and leave nothing."""
    monkeypatch.setattr(service, "TRIAL_SECONDS", 120.0)
    client = served.client
    closed = await hold(foreign, zone, allowed=False)
    host = closed.rpartition(":")[0]
    unfit = RRset(f"a.{zone}.", "MX", 300, frozenset(["300 b.example."]))
    cases = [
        (closed, "The name server refused the transfer ("),
        (f"{host}:1", f"No name server that sends zones was reached at {host}."),
    ]
    for remote, reason in cases:
        await fails(client, zone, remote, reason)
    remote = await hold(foreign, zone, unfit)
    await fails(client, zone, remote, f"a.{zone}. MX: priority: Must be 0-255")
    body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
    await client.post("/domains", body)
    answer = await client.send(
        "POST", "/domains/import", {"domain": zone, "remote_nameserver": remote}
    )
    assert answer.problems == [("domain", TAKEN)]


async def fails(client: Client, zone: str, remote: str, reason: str) -> None:
    body = {"domain": zone, "remote_nameserver": remote}
    answer = await client.send("POST", "/domains/import", body)
    ((field, said),) = answer.problems
    assert (answer.status, field) == (400, "remote_nameserver")
    assert said.startswith(reason)
    assert (await client.get("/domains"))["results"] == 0
    assert (await client.get("/account/events"))["results"] == 0


@pytest.fixture
async def silent() -> AsyncIterator[str]:
    """A server that takes connections and says nothing."""

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_a_slow_transfer_is_left_to_a_job(
    served: Served, zone: str, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When that fails, an event says why, and there is no domain."""
    monkeypatch.setattr(service, "TRIAL_SECONDS", 0.1)
    monkeypatch.setattr(transfer_client, "SECONDS", 0.1)
    client, fetch, goes = served.client, transfer_client.fetch, asyncio.Event()

    async def late(*what: Any) -> Parsed:
        await goes.wait()
        return await fetch(*what)

    monkeypatch.setattr(transfer_client, "fetch", late)
    body = {"domain": zone, "remote_nameserver": silent}
    domain = await client.post("/domains/import", body)
    path = f"/domains/{domain['id']}"
    answer = await client.send("POST", f"{path}/records", {"type": "A", "target": "192.0.2.1"})
    assert answer.problems == [(None, "The domain is being imported.")]
    goes.set()
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    event = (await told(client))[0]
    assert (event["action"], event["status"]) == ("dns_zone_import", "failed")
    assert event["message"] == "No name server that sends zones was reached at 127.0.0.1."


async def test_imports_at_once(
    served: Served, zone: str, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few of an account wait for other servers: as requests, and as jobs."""
    client, goes = served.client, asyncio.Event()

    async def begin(number: int) -> Answer:
        body = {"domain": f"n{number}.{zone}", "remote_nameserver": silent}
        return await client.send("POST", "/domains/import", body)

    async def trial(*_what: object) -> Parsed:
        await goes.wait()
        raise TransferTimeoutError("It takes long")

    monkeypatch.setattr(service, "fetch", trial)
    asked = [asyncio.create_task(begin(number)) for number in range(8)]

    async def answered() -> int:
        return sum(each.done() for each in asked)

    await until(answered, lambda count: count == 8 - MAX_IMPORTS)
    goes.set()
    found = [(await each).status for each in asked]
    assert sorted(found) == [200] * MAX_IMPORTS + [429] * (8 - MAX_IMPORTS)
    answer = await begin(9)
    assert (answer.status, answer.problems) == (400, [(None, TOO_MANY)])
    body = {"domain": f"file.{zone}", "zone_file": "@ A 192.0.2.1"}
    assert (await client.send("POST", "/domains/import", body)).status == 200
    for domain in (await client.get("/domains"))["data"]:
        await client.delete(f"/domains/{domain['id']}")


async def test_what_was_set_meanwhile_stays(served: Served, zone: str) -> None:
    """The imported SOA says the rest, and the serial grows in any case."""
    store, now = served.roost.store, served.roost.clock.seconds()
    facts = await add_domain(served.roost, importing=True, name=zone)
    sent = UpdateDomain(soa_email="mine@example.com", retry_sec=300)
    await queries.update(store, facts, sent.model_dump(), facts.serial + 5, now)
    text = "@ SOA ns.old.example. me.old.example. 7 3600 7200 86400 300"
    conversion = Conversion(zone, served.roost.services.get(Dns))
    await keep_import(store, facts, parse_zone_file(text, conversion), now)
    after = await queries.find_any(store, facts.id)
    assert after is not None
    assert (after.soa_email, after.retry_sec) == ("mine@example.com", 300)
    assert (after.refresh_sec, after.expire_sec) == (3600, 86400)
    assert after.serial > facts.serial + 5
    await queries.delete(store, facts.id)
