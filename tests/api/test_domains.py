"""The life of domains, as their owners and resolvers see it."""

import dns.rdatatype
import dns.zone
import pytest

from roost.resources.domains.service import RESERVED, TAKEN
from tests.api.conftest import Account
from tests.api.dns_servers import Served
from tests.support.client import Client, Json
from tests.support.resolving import answers, ask, refused, told

EMAIL = "first.last@example.com"


async def make(client: Client, name: str, **more: Json) -> Json:
    return await client.post(
        "/domains", {"domain": name, "type": "master", "soa_email": EMAIL, **more}
    )


async def add(client: Client, domain: Json, **record: Json) -> Json:
    return await client.post(f"/domains/{domain['id']}/records", {"type": "A", **record})


async def serial(served: Served, zone: str) -> int:
    (soa,) = await answers(served.server, zone, "SOA")
    return int(soa.split()[2])


async def finished(client: Client) -> list[str]:
    """The account's events, the oldest first; all of them have ended well."""
    events = await told(client)
    assert {event["status"] for event in events} == {"finished"}
    return [event["action"] for event in reversed(events)]


@pytest.fixture
def name(served: Served, request: pytest.FixtureRequest) -> str:
    return f"{request.function.__name__.replace('_', '-')}-{served.engine}.example"


@pytest.mark.spec(
    "B domains create",
    "B domains delete",
    "B domain status",
    "B events kinds",
    "B domain status changes",
    "B domains records create",
    "B domains records change",
)
async def test_a_life(served: Served, name: str) -> None:
    """Each change is seen by a query when its event has finished."""
    client, server = served.client, served.server
    assert await refused(server, name)
    domain = await make(client, name, refresh_sec=30, retry_sec=120, expire_sec=300, ttl_sec=3600)
    path = f"/domains/{domain['id']}"
    actions = ["dns_zone_create"]
    assert await finished(client) == actions
    (soa,) = await answers(server, name, "SOA")
    parts = soa.split()
    assert parts[:2] == ["ns1.roost.internal.", "first\\.last.example.com."]
    assert parts[3:] == ["30", "120", "300", "3600"]
    nameservers = ["ns1.roost.internal.", "ns2.roost.internal."]
    assert await answers(server, name, "NS") == nameservers
    assert await answers(server, f"www.{name}", "A") == []

    record = await add(client, domain, name="www", target="192.0.2.1")
    actions.append("dns_record_create")
    assert await finished(client) == actions
    assert await answers(server, f"www.{name}", "A") == ["192.0.2.1"]

    one = f"{path}/records/{record['id']}"
    await client.put(one, {"name": "web", "target": "192.0.2.2"})
    actions.append("dns_record_update")
    assert await finished(client) == actions
    assert await answers(server, f"www.{name}", "A") == []
    assert await answers(server, f"web.{name}", "A") == ["192.0.2.2"]

    assert await client.put(path, {"status": "disabled"}) == await client.get(path)
    actions.append("dns_zone_update")
    assert await finished(client) == actions
    assert await refused(server, name)
    await add(client, domain, name="later", target="192.0.2.3")
    actions.append("dns_record_create")
    await client.put(path, {"status": "active"})
    actions.append("dns_zone_update")
    assert await finished(client) == actions
    assert await answers(server, f"later.{name}", "A") == ["192.0.2.3"]

    assert await client.delete(one) == {}
    actions.append("dns_record_delete")
    assert await finished(client) == actions
    assert await answers(server, f"web.{name}", "A") == []
    assert (await client.send("GET", one)).status == 404

    assert await client.delete(path) == {}
    assert await finished(client) == [*actions, "dns_zone_delete"]
    assert await refused(server, name)
    for gone in (path, one, f"{path}/records", f"{path}/zone-file", f"{path}/dnssec"):
        assert (await client.send("GET", gone)).status == 404


@pytest.mark.spec("B domains update")
async def test_a_new_name(served: Served, name: str) -> None:
    client, other = served.client, f"new-{name}"
    domain = await make(client, name)
    await add(client, domain, name="www", target="192.0.2.1")
    path = f"/domains/{domain['id']}"
    renamed = await client.put(path, {"domain": other})
    assert renamed["domain"] == other
    await finished(client)
    assert await answers(served.server, f"www.{other}", "A") == ["192.0.2.1"]
    await make(client, name)
    await finished(client)
    assert await answers(served.server, f"www.{name}", "A") == []
    answer = await client.send("PUT", path, {"domain": name.upper()})
    assert answer.problems == [("domain", TAKEN)]
    assert (await client.put(path, {"domain": other.upper()}))["domain"] == other.upper()


@pytest.mark.spec("B domains update")
async def test_the_serial_grows_with_every_change(served: Served, name: str) -> None:
    client = served.client
    domain = await make(client, name)
    path, seen = f"/domains/{domain['id']}", []

    async def look() -> None:
        await finished(client)
        seen.append(await serial(served, name))

    await look()
    record = await add(client, domain, target="192.0.2.1")
    await look()
    await client.put(f"{path}/records/{record['id']}", {"target": "192.0.2.2"})
    await look()
    for body in ({"ttl_sec": 300}, {"status": "disabled"}, {"status": "active"}):
        await client.put(path, body)
    await look()
    for signed in (True, False):
        await client.put(path, {"dnssec": signed})
        await look()
    await client.delete(f"{path}/records/{record['id']}")
    await look()
    assert seen == sorted(set(seen))
    await client.put(path, {"description": "no change for resolvers", "group": "x", "ttl_sec": 300})
    await look()
    assert seen[-1] == seen[-2]


async def test_ttls(served: Served, name: str) -> None:
    """A record's own, or the domain's; the shortest of an RRset counts for all of it."""
    client = served.client
    domain = await make(client, name, ttl_sec=3600)
    await add(client, domain, name="own", target="192.0.2.1", ttl_sec=300)
    await add(client, domain, name="default", target="192.0.2.1")
    await add(client, domain, name="both", target="192.0.2.1", ttl_sec=7200)
    await add(client, domain, name="both", target="192.0.2.2")
    await finished(client)

    async def ttls() -> list[int]:
        owners = ("own", "default", "both")
        found = [await ask(served.server, f"{owner}.{name}", "A") for owner in owners]
        return [message.answer[0].ttl for message in found]

    assert await ttls() == [300, 3600, 3600]
    await client.put(f"/domains/{domain['id']}", {"ttl_sec": 14400})
    await finished(client)
    assert await ttls() == [300, 14400, 7200]


@pytest.mark.spec("B domains clone")
async def test_a_clone(served: Served, name: str) -> None:
    client, other = served.client, f"clone-{name}"
    fields = {"ttl_sec": 300, "tags": ["blue"], "axfr_ips": ["192.0.2.9"], "description": "d"}
    domain = await make(client, name, dnssec=True, **fields)
    path = f"/domains/{domain['id']}"
    await add(client, domain, name="www", target="192.0.2.1", ttl_sec=3600)
    await add(client, domain, type="TXT", target="apex")
    clone = await client.post(f"{path}/clone", {"domain": other})
    changed = ("id", "domain", "created", "updated")
    assert {k: v for k, v in clone.items() if k not in changed} == {
        k: v for k, v in domain.items() if k not in changed
    }
    assert await finished(client) == [
        *("dns_zone_create", "dns_record_create", "dns_record_create", "dns_zone_create")
    ]
    paths = [f"{path}/records", f"/domains/{clone['id']}/records"]
    records = [(await client.get(p))["data"] for p in paths]
    ids = [{record.pop("id") for record in found} for found in records]
    assert ids[0].isdisjoint(ids[1])
    assert [r["target"] for r in records[0]] == [r["target"] for r in records[1]]
    assert await answers(served.server, f"www.{other}", "A") == ["192.0.2.1"]
    keys = [
        (await client.get(f"/domains/{d['id']}/dnssec"))["ds_records"][0]["digest"]
        for d in (domain, clone)
    ]
    assert keys[0] != keys[1]
    answer = await client.send("POST", f"{path}/clone", {"domain": name})
    assert answer.problems == [("domain", TAKEN)]
    answer = await client.send("POST", f"{path}/clone", {})
    assert answer.problems == [("domain", "domain is required")]


async def test_a_zone_file_says_what_resolvers_hear(served: Served, name: str) -> None:
    client = served.client
    domain = await make(client, name)
    path = f"/domains/{domain['id']}"
    for record in (
        {"target": "192.0.2.1"},
        {"type": "TXT", "name": "t", "target": 'a "b" ; ' + "x" * 300, "ttl_sec": 300},
        {"type": "MX", "target": "mail.example.com", "priority": 5},
        {"type": "NS", "name": "sub", "target": "ns.example.net"},
        {"type": "CNAME", "name": "*", "target": "www.example.com"},
    ):
        await add(client, domain, **record)
    await finished(client)
    lines = (await client.get(f"{path}/zone-file"))["zone_file"]
    assert lines[0] == f"; {name} [{domain['id']}]"
    zone = dns.zone.from_text("\n".join(lines), f"{name}.", relativize=False)
    for owner, rdataset in zone.iterate_rdatasets():
        wanted = sorted(record.to_text() for record in rdataset)
        kind = dns.rdatatype.to_text(rdataset.rdtype)
        assert await answers(served.server, owner.to_text(), kind) == wanted


@pytest.mark.spec("B domains list", "B domains view", "B domain record", "B domains records list")
async def test_lists(client: Client, account: Account) -> None:
    names = [f"{letter}-{account.id}.example" for letter in "cab"]
    ids = [(await make(client, name, group=name[0], tags=[name[0] * 3]))["id"] for name in names]
    page = await client.get("/domains")
    assert [row["id"] for row in page["data"]] == ids
    for filter_, wanted in (
        ({"domain": names[1]}, [ids[1]]),
        ({"group": "c"}, [ids[0]]),
        ({"tags": "bbb"}, [ids[2]]),
        ({"domain": {"+contains": "-"}, "+order_by": "domain"}, [ids[1], ids[2], ids[0]]),
    ):
        found = await client.get("/domains", filter=filter_)
        assert [row["id"] for row in found["data"]] == wanted
    domain = await client.get(f"/domains/{ids[0]}")
    await add(client, domain, name="www", target="192.0.2.1")
    await add(client, domain, type="CAA", tag="issue", target="ca.example")
    path = f"/domains/{ids[0]}/records"
    for filter_, kinds in (
        ({"type": "A"}, ["A"]),
        ({"name": "www"}, ["A"]),
        ({"target": "ca.example"}, ["CAA"]),
        ({"tag": "issue"}, ["CAA"]),
        ({"+order_by": "type", "+order": "desc"}, ["CAA", "A"]),
    ):
        assert [r["type"] for r in (await client.get(path, filter=filter_))["data"]] == kinds
    assert (await client.get(f"/domains/{ids[1]}/records"))["results"] == 0
    record = (await client.get(path))["data"][0]
    assert (await client.send("GET", f"/domains/{ids[1]}/records/{record['id']}")).status == 404


async def test_zones_of_the_deployment_are_nobodys(client: Client) -> None:
    """Those of reverse DNS and of default names, what lies within or above them, and the names of
    its name servers."""
    for name in (
        *("ip.roost.internal", "a.ip.roost.internal", "roost.internal"),
        *("100.51.198.in-addr.arpa", "1.100.51.198.in-addr.arpa", "51.198.in-addr.arpa"),
        *("7.18.198.in-addr.arpa", "8.b.d.0.1.0.0.2.ip6.arpa"),
        *("ns1.roost.internal", "NS2.roost.internal", "a.ns2.roost.internal"),
    ):
        answer = await client.send(
            "POST", "/domains", {"domain": name, "type": "master", "soa_email": EMAIL}
        )
        assert answer.problems == [("domain", RESERVED)], name


@pytest.mark.spec("B domain seconds defaults")
async def test_what_0_seconds_stand_for(served: Served, name: str) -> None:
    client = served.client
    domain = await make(client, name)
    await add(client, domain, name="www", target="192.0.2.1")
    await finished(client)
    (soa,) = await answers(served.server, name, "SOA")
    assert soa.split()[3:6] == ["14400", "14400", "1209600"]
    message = await ask(served.server, f"www.{name}", "A")
    assert message.answer[0].ttl == 86400
