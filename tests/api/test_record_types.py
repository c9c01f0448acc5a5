"""Each type of record: tables of what is accepted, how it is answered, and what is refused."""

import asyncio
from itertools import count
from typing import get_args

import pytest

from roost.resources.domains.records import RecordType
from tests.api.dns_servers import Served
from tests.support.client import Client, Json
from tests.support.record_tables import TABLES, Invalid, Valid, filled
from tests.support.resolving import answers, told

pytestmark = pytest.mark.spec("B domain record fields")

_NUMBERS = count()

every_type = pytest.mark.parametrize("kind", TABLES)


async def make_domain(client: Client, prefix: str) -> tuple[str, int]:
    name = f"{prefix}{next(_NUMBERS)}.example"
    body = {"domain": name, "type": "master", "soa_email": "admin@example.com"}
    return name, (await client.post("/domains", body))["id"]


@pytest.mark.spec(
    "B domain record name",
    "B domain record target",
    "B domain record period",
    "B domain record priority",
    "B domain record weight",
    "B domain record port",
    "B domain record service",
    "B domain record tag",
    "B domain record priority types",
    "B domain record weight types",
    "B domain record port types",
    "B domain record tag types",
)
@every_type
@pytest.mark.parametrize("part", ["canonical", "other"])
async def test_valid(kind: RecordType, part: str, served: Served) -> None:
    """What was sent comes back as it was sent, and DNS answers it byte for byte."""
    rows: tuple[Valid, ...] = getattr(TABLES[kind], part)
    zones = await asyncio.gather(*(create(kind, row, served) for row in rows))
    assert {event["status"] for event in await told(served.client)} == {"finished"}
    for row, zone in zip(rows, zones, strict=True):
        await resolve(kind, row, zone, served)


async def create(kind: RecordType, row: Valid, served: Served) -> str:
    """The name of the record's domain."""
    client = served.client
    zone, domain_id = await make_domain(client, f"{kind.lower()}-{served.engine}-")
    body = {"type": kind, **filled(row.sent, zone)}
    record = await client.post(f"/domains/{domain_id}/records", body)
    wanted = {**body, **filled(row.shown, zone)}
    assert {name: record[name] for name in wanted} == wanted
    assert await client.get(f"/domains/{domain_id}/records/{record['id']}") == record
    return zone


async def resolve(kind: RecordType, row: Valid, zone: str, served: Served) -> None:
    owner = filled(row.sent["name"], zone) if row.owner is None else row.owner
    found = await answers(served.server, f"{owner}.{zone}" if owner else zone, kind)
    own = ["ns1.roost.internal.", "ns2.roost.internal."] if (kind, owner) == ("NS", "") else []
    assert found == sorted([filled(row.rdata, zone), *own])


@pytest.mark.spec(
    "B domain record name",
    "B domain record target",
    "B domain record period",
    "B domain record priority",
    "B domain record weight",
    "B domain record port",
    "B domain record service",
    "B domain record tag",
    "B domain record priority types",
    "B domain record weight types",
    "B domain record port types",
    "B domain record tag types",
)
@every_type
async def test_invalid(kind: RecordType, client: Client) -> None:
    """Each is refused with its fields and reasons, and leaves nothing."""
    zone, domain_id = await make_domain(client, "bad")
    before = await client.get(f"/domains/{domain_id}/zone-file")
    problems = await asyncio.gather(
        *(refusal(client, domain_id, kind, filled(row.sent, zone)) for row in TABLES[kind].invalid)
    )
    assert problems == [wanted(row, zone) for row in TABLES[kind].invalid]
    assert (await client.get(f"/domains/{domain_id}/records"))["results"] == 0
    assert await client.get(f"/domains/{domain_id}/zone-file") == before
    assert [e["action"] for e in await told(client)] == ["dns_zone_create"]


async def refusal(client: Client, domain_id: int, kind: RecordType, sent: Json) -> Json:
    answer = await client.send("POST", f"/domains/{domain_id}/records", {"type": kind, **sent})
    return sent, answer.status, answer.problems


def wanted(row: Invalid, zone: str) -> Json:
    return filled(row.sent, zone), 400, list(row.problems)


@every_type
async def test_invalid_updates(kind: RecordType, client: Client) -> None:
    """A record of each type is held to the same rules when it is changed."""
    table = TABLES[kind]
    zone, domain_id = await make_domain(client, "change")
    sent = {"type": kind, **filled(table.canonical[0].sent, zone)}
    record = await client.post(f"/domains/{domain_id}/records", sent)
    path = f"/domains/{domain_id}/records/{record['id']}"
    refused = 0
    for row in table.invalid:
        # What is left out of an update stays as it is.
        if set(row.sent) >= set(table.canonical[0].sent):
            answer = await client.send("PUT", path, filled(row.sent, zone))
            assert answer.status == 400, row
            assert {field for field, _ in answer.problems} <= {field for field, _ in row.problems}
            refused += 1
    assert refused >= 5
    assert await client.get(path) == record


@pytest.mark.spec("B domain record type")
@pytest.mark.parametrize("part", ["canonical", "other", "invalid"])
def test_the_tables_cover_all_types(part: str) -> None:
    assert set(TABLES) == set(get_args(RecordType))
    assert all(len(getattr(table, part)) >= 3 for table in TABLES.values())


@pytest.mark.spec("B domain record type", "B domain record type required")
@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ({}, "type is required"),
        ({"type": "a"}, f"Must be one of {', '.join(get_args(RecordType))}"),
        ({"type": "SPF"}, f"Must be one of {', '.join(get_args(RecordType))}"),
    ],
)
async def test_the_type(client: Client, sent: Json, reason: str) -> None:
    _, domain_id = await make_domain(client, "type")
    body = {"name": "a", "target": "192.0.2.1", **sent}
    answer = await client.send("POST", f"/domains/{domain_id}/records", body)
    assert (answer.status, answer.problems) == (400, [("type", reason)])
