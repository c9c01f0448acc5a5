"""What records of one domain demand of each other, and of their domain."""

import asyncio
import json
from unittest.mock import ANY

import pytest

from roost.resources.domains import queries, record_queries, rules
from roost.resources.domains.name_rules import HOST_REASON
from roost.resources.domains.record_endpoints import SLAVE
from roost.resources.domains.records import RecordType
from roost.resources.domains.rules import FULL, MAX_BYTES, MAX_RECORDS, TOO_LARGE
from roost.resources.domains.service import LONG
from roost.resources.domains.zone_rules import (
    CNAME_REASON,
    NULL_MX_REASON,
    SIZE_REASON,
    TWIN_REASON,
)
from roost.store import Store
from tests.api.conftest import Account
from tests.api.dns_servers import Served
from tests.support.client import Answer, Client, Json, until
from tests.support.resolving import answers, told

pytestmark = pytest.mark.spec("B domain record fields")

A: Json = {"type": "A", "name": "a", "target": "192.0.2.1"}
CNAME: Json = {"type": "CNAME", "name": "a", "target": "www.example.com"}
MX: Json = {"type": "MX", "name": "", "target": "mail.example.com", "priority": 10}
NULL_MX: Json = {"type": "MX", "name": "", "target": "", "priority": 0}


@pytest.fixture
async def path(client: Client, account: Account) -> str:
    """Of the records of a new domain."""
    body = {
        "domain": f"records-{account.id}.example",
        "type": "master",
        "soa_email": "me@example.com",
    }
    return f"/domains/{(await client.post('/domains', body))['id']}/records"


async def post(client: Client, path: str, body: Json) -> Answer:
    return await client.send("POST", path, body)


PAIRS = [
    (A, CNAME, "name", CNAME_REASON),
    (CNAME, A, "name", CNAME_REASON),
    (CNAME, {**CNAME, "target": "b.example"}, "name", CNAME_REASON),
    (CNAME, {**A, "name": "A"}, "name", CNAME_REASON),
    (MX, NULL_MX, "target", NULL_MX_REASON),
    (NULL_MX, MX, "target", NULL_MX_REASON),
    (A, A, "target", TWIN_REASON),
    (A, {**A, "name": "A", "ttl_sec": 300}, "target", TWIN_REASON),
    (MX, {**MX, "target": "MAIL.example.com."}, "target", TWIN_REASON),
]


@pytest.mark.parametrize(("first", "second", "field", "reason"), PAIRS)
async def test_strangers(
    client: Client, path: str, first: Json, second: Json, field: str, reason: str
) -> None:
    """Neither made beside the other nor changed to be so."""
    one = await client.post(path, first)
    answer = await post(client, path, second)
    assert (answer.status, answer.problems) == (400, [(field, reason)])
    await client.delete(f"{path}/{one['id']}")
    two = await client.post(path, second)
    target = "192.0.2.77" if first["type"] == "A" else "b.example"
    elsewhere = await client.post(path, {**first, "name": "b", "target": target})
    assert (await client.get(path))["results"] == 2
    answer = await client.send("PUT", f"{path}/{elsewhere['id']}", first)
    assert (answer.status, answer.problems) == (400, [(field, reason)])
    assert await client.get(f"{path}/{two['id']}") == two
    assert await client.get(f"{path}/{elsewhere['id']}") == elsewhere


async def test_companions(client: Client, path: str) -> None:
    for body in (A, {**A, "target": "192.0.2.2"}, {"type": "TXT", "name": "a", "target": "x"}, MX):
        await client.post(path, body)
    await client.post(path, {**MX, "priority": 20})
    await client.post(path, {**CNAME, "name": "b"})
    assert (await client.get(path))["results"] == 6


async def test_a_cname_may_be_changed(client: Client, path: str) -> None:
    one = await client.post(path, CNAME)
    changed = await client.put(f"{path}/{one['id']}", {"target": "web.example.com"})
    assert changed["target"] == "web.example.com"


async def test_the_type_of_a_record_stays(client: Client, path: str) -> None:
    """Who sends another one is told so, rather than of a target that does not fit the old one."""
    one = await client.post(path, CNAME)
    answer = await client.send("PUT", f"{path}/{one['id']}", {"type": "A", "target": "192.0.2.1"})
    reason = "Must stay CNAME: delete the record and create one of the other type"
    assert (answer.status, answer.problems) == (400, [("type", reason)])
    assert await client.put(f"{path}/{one['id']}", one) == one | {"updated": ANY}


async def test_an_answer_has_a_size(client: Client, path: str) -> None:
    """No name can have more than a DNS message carries."""
    for letter in "abc":
        await client.post(path, {"type": "TXT", "name": "big", "target": letter * 20_000})
    answer = await post(client, path, {"type": "TXT", "name": "big", "target": "d" * 20_000})
    assert answer.problems == [("target", SIZE_REASON)]
    await client.post(path, {"type": "TXT", "name": "other", "target": "d" * 20_000})
    await client.post(path, {"type": "TXT", "name": "odd", "target": "\u00e9" * 20_000})
    answer = await post(client, path, {"type": "TXT", "name": "odder", "target": "\u00e9" * 32_700})
    assert answer.problems == [("target", SIZE_REASON)]


async def test_a_domain_has_a_size(
    client: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In bytes of the targets of its records."""
    limit = MAX_BYTES // 8
    monkeypatch.setattr(rules, "MAX_BYTES", limit)
    text = "\u00e9" * 32_000
    made = [
        await client.post(path, {"type": "TXT", "name": f"t{n}", "target": text}) for n in range(8)
    ]
    one_more = {"type": "TXT", "name": "one-more", "target": text}
    problem = ("target", TOO_LARGE)
    assert (await post(client, path, one_more)).problems == [problem]
    await client.post(path, {**one_more, "target": "x"})
    await client.delete(f"{path}/{made[0]['id']}")
    await client.put(f"{path}/{made[1]['id']}", {"target": "short"})
    more = await client.post(path, one_more)
    await client.put(f"{path}/{more['id']}", {"target": text[:-1]})
    await client.post(path, {**one_more, "name": "again"})
    answer = await post(client, path, {**one_more, "name": "and-again"})
    assert answer.problems == [problem]
    zone_file = "\n".join((await client.get(path.replace("records", "zone-file")))["zone_file"])
    assert len(zone_file) > 3 * limit, "it is longer as text"


async def test_long_targets_are_searched_at_their_beginning(client: Client, path: str) -> None:
    long = "a" * 200 + "needle" + "b" * 20_000 + "straw"
    await client.post(path, {"type": "TXT", "name": "x", "target": long})

    async def found(condition: Json) -> int:
        headers = {"X-Filter": json.dumps({"target": condition})}
        answer = await client.send("GET", path, headers=headers)
        return int(answer.body["results"])

    assert await found({"+contains": "NEEDLE"}) == 1
    assert await found({"+contains": "straw"}) == 0
    assert await found(long) == 1
    assert await found({"+neq": long}) == 0


async def test_hosts_with_underscores(served: Served) -> None:
    """As the target of an SRV record where the name server serves it; PowerDNS refuses it."""
    zone = f"underscores-{served.engine}.example"
    body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
    path = f"/domains/{(await served.client.post('/domains', body))['id']}/records"
    numbers = {"priority": 1, "weight": 2, "port": 3}
    srv = {"type": "SRV", "name": "_a_b._tcp", "target": "_x.host.example", **numbers}
    answer = await post(served.client, path, srv)
    text = f"_a._tcp SRV 1 2 3 _x.{zone}."
    imported = await served.client.send(
        "POST", "/domains/import", {"domain": f"x.{zone}", "zone_file": text}
    )
    if served.engine == "powerdns":
        assert answer.problems == [("target", HOST_REASON)]
        assert imported.status == 400
        await served.client.post(path, {**srv, "target": "x.host.example"})
    else:
        assert imported.status == 200
    await told(served.client)
    found = await answers(served.server, f"_a_b._tcp.{zone}", "SRV")
    host = "x.host.example." if served.engine == "powerdns" else "_x.host.example."
    assert found == [f"1 2 3 {host}"]


async def test_the_callers_address(client: Client, path: str) -> None:
    record = await client.post(path, {"type": "A", "name": "me", "target": "[remote_addr]"})
    assert record["target"] == "127.0.0.1"
    changed = await client.put(f"{path}/{record['id']}", {"target": "192.0.2.9"})
    assert changed["target"] == "192.0.2.9"
    again = await client.put(f"{path}/{record['id']}", {"target": "[remote_addr]"})
    assert again["target"] == "127.0.0.1"
    answer = await post(client, path, {"type": "AAAA", "name": "me", "target": "[remote_addr]"})
    assert answer.problems == [("target", "Must be an IPv6 address")]


async def test_names_have_a_length_together(client: Client, account: Account) -> None:
    zone = ".".join([f"z{account.id}" + "a" * 50, "b" * 63, "c" * 63, "example"])
    body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
    path = f"/domains/{(await client.post('/domains', body))['id']}/records"
    fits = 253 - len(zone) - 1
    long = ("x" * 30 + ".") * 3
    await client.post(path, {**A, "name": (long + "y" * 60)[-fits:].lstrip(".")})
    answer = await post(client, path, {**A, "name": "w" * 40 + "." + "v" * (fits - 40)})
    reason = "Must have at most 253 characters together with the domain"
    assert answer.problems == [("name", reason)]
    domain, longer = path.removesuffix("/records"), f"z.{zone}"
    for method, where in (("PUT", domain), ("POST", f"{domain}/clone")):
        answer = await client.send(method, where, {"domain": longer})
        assert answer.problems == [("domain", LONG)]


async def test_slaves_have_no_records_of_their_own(client: Client, account: Account) -> None:
    body = {"domain": f"s-{account.id}.example", "type": "slave", "master_ips": ["203.0.113.1"]}
    slave = await client.post("/domains", body)
    path = f"/domains/{slave['id']}"
    answer = await post(client, f"{path}/records", A)
    assert (answer.status, answer.problems) == (400, [(None, SLAVE)])
    await client.put(path, {"type": "master", "soa_email": "me@example.com"})
    record = await client.post(f"{path}/records", A)
    await client.put(path, {"type": "slave"})
    for method in ("PUT", "DELETE"):
        answer = await client.send(method, f"{path}/records/{record['id']}", {})
        assert answer.problems == [(None, SLAVE)]
    assert (await client.get(f"{path}/zone-file"))["zone_file"] == []


async def test_many_at_once(served: Served) -> None:
    """Records that are made at the same time all end up in the zone."""
    client, zone = served.client, f"many-{served.engine}.example"
    body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
    path = f"/domains/{(await client.post('/domains', body))['id']}/records"
    targets = [f"192.0.2.{n}" for n in range(40)]
    bodies = [{**A, "target": target} for target in targets] + [CNAME]
    made = await asyncio.gather(*(post(client, path, body) for body in bodies))
    refused = [answer for answer in made if answer.status != 200]
    await told(client)
    kept = (await client.get(path))["data"]
    assert len(kept) + len(refused) == len(bodies)
    kind = kept[0]["type"]
    wanted = sorted(r["target"] for r in kept) if kind == "A" else ["www.example.com."]
    assert await answers(served.server, f"a.{zone}", kind) == wanted
    assert (await client.get("/account/events"))["results"] == len(kept) + 1


@pytest.mark.spec("B limits domain records")
async def test_a_full_domain(served: Served) -> None:
    """12,000 records: imported, listed page by page, edited, at their limit, and deleted."""
    client, zone = served.client, f"full-{served.engine}.example"
    lines = [f"h{n} A 10.{n >> 16}.{n >> 8 & 255}.{n & 255}" for n in range(MAX_RECORDS)]
    domain = await client.post("/domains/import", {"domain": zone, "zone_file": "\n".join(lines)})
    path = f"/domains/{domain['id']}/records"
    assert {event["status"] for event in await told(client)} == {"finished"}
    assert await answers(served.server, f"h11999.{zone}", "A") == ["10.0.46.223"]

    pages = [await client.get(f"{path}?page={n}&page_size=500") for n in (1, 12, 24)]
    assert [(page["pages"], page["results"]) for page in pages] == [(24, MAX_RECORDS)] * 3
    assert [page["data"][-1]["name"] for page in pages] == ["h499", "h5999", "h11999"]
    answer = await post(client, path, A)
    assert (answer.status, answer.problems) == (400, [(None, FULL)])

    last = pages[-1]["data"][-1]["id"]
    await client.put(f"{path}/{last}", {"target": "192.0.2.1"})
    await told(client)
    assert await answers(served.server, f"h11999.{zone}", "A") == ["192.0.2.1"]
    await client.delete(f"{path}/{last}")
    await client.post(path, A)
    await told(client)
    assert await answers(served.server, f"h11999.{zone}", "A") == []
    assert await answers(served.server, f"a.{zone}", "A") == ["192.0.2.1"]
    too_many = "\n".join([*lines, "one-more A 192.0.2.1"])
    body = {"domain": f"x.{zone}", "zone_file": too_many}
    answer = await client.send("POST", "/domains/import", body)
    assert answer.problems == [("zone_file", FULL)]
    await client.delete(f"/domains/{domain['id']}")
    assert {event["status"] for event in await told(client)} == {"finished"}


_WAITING = """
    select exists (select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock')
"""


async def test_an_edit_and_the_end_of_a_job_do_not_block_each_other(served: Served) -> None:
    """The job that ends has an error to take back and a change to forget."""
    store, zone = served.roost.store, f"locks-{served.engine}.example"
    body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
    domain_id = (await served.client.post("/domains", body))["id"]
    await told(served.client)
    now = served.roost.clock.seconds()
    keys: list[tuple[str, RecordType]] = [("a", "A")]
    await record_queries.set_changed(store, domain_id, keys, (0, 0), 1, now)
    await queries.set_errors(store, zone, "an error")
    async with store.transaction() as db:
        await queries.lock_zone(db, zone)
        ending = asyncio.create_task(forget(store, domain_id))
        await until(lambda: store.fetchval(_WAITING), bool)
        await record_queries.set_changed(db, domain_id, keys, (0, 0), 2, now)
    await ending
    pending = await record_queries.pending(store, domain_id, 300)
    assert pending is not None
    assert (pending.facts.errors, len(pending.keys)) == ("", 1)


async def forget(store: Store, domain_id: int) -> None:
    async with store.transaction() as db:
        await record_queries.forget_changes(db, domain_id, 1)
