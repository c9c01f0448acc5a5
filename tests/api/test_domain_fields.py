"""Fields of domains: what is accepted, what becomes of it, and what is refused."""

import pytest

from roost.resources.domains.bodies import UNSIGNABLE
from roost.resources.domains.name_rules import DOTTED_REASON, NAME_REASON, PUBLIC_REASON
from roost.resources.domains.settings import PRIVATE_REASON
from roost.web.fields import MAPPED
from tests.api.conftest import Account
from tests.support.client import Client, Json

pytestmark = pytest.mark.spec("B domain record")

EMAIL = "me@example.com"
SLAVE: Json = {"type": "slave", "master_ips": ["203.0.113.1"]}
DEFAULTS: Json = {
    "group": "",
    "status": "active",
    "description": "",
    "soa_email": "",
    "retry_sec": 0,
    "master_ips": [],
    "axfr_ips": [],
    "expire_sec": 0,
    "refresh_sec": 0,
    "ttl_sec": 0,
    "tags": [],
    "dnssec": False,
    "errors": "",
}
LONGEST = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 53, "example"])
SECONDS = ("refresh_sec", "retry_sec", "expire_sec", "ttl_sec")
ROUNDED = {
    0: 0,
    1: 30,
    30: 30,
    31: 120,
    121: 300,
    3599: 3600,
    3601: 7200,
    86401: 172800,
    2419199: 2419200,
    2419200: 2419200,
    2419201: 2419200,
    2**40: 2419200,
}

RECORD_ROUNDED = {
    0: 0,
    1: 300,
    300: 300,
    1949: 300,
    1950: 3600,
    5399: 3600,
    5400: 7200,
    10800: 14400,
    64799: 57600,
    72000: 86400,
    2419201: 2419200,
    2**40: 2419200,
}

VALID = [
    ("domain", "Mixed-Case.Example"),
    ("domain", "a.b"),
    ("domain", "xn--bcher-kva.example"),
    ("domain", "_acme-challenge.fields.example"),
    ("domain", "7.in-addr.arpa"),
    ("domain", LONGEST),
    ("status", "disabled"),
    ("soa_email", "first.last+tag@mail.example.com"),
    ("soa_email", f"{'l' * 63}@example.com"),
    ("description", "d" * 253),
    ("description", ""),
    ("group", "g" * 50),
    ("group", ""),
    ("master_ips", ["192.0.2.1", "2001:db8::1"]),
    ("master_ips", ["127.0.0.1", "::1", "10.0.0.1"]),
    ("axfr_ips", ["203.0.113.1", "2001:DB8::1", "198.51.100.7"]),
    ("axfr_ips", []),
    ("axfr_ips", ["1.1.1.1"] * 142),
    ("tags", ["abc", "x" * 50]),
    ("dnssec", True),
]

INVALID = [
    *(
        ("domain", text, NAME_REASON)
        for text in (
            *("a..example", ".example", "example.com.", "-a.example", "a-.example", "a b.example"),
            *(
                "*.example.com",
                "a/b.example",
                "a,b.example",
                "\u00a0.example",
                "e" * 64 + ".example",
            ),
        )
    ),
    ("domain", "example", DOTTED_REASON),
    ("domain", "192.0.2.1", DOTTED_REASON),
    ("domain", "co.uk", PUBLIC_REASON),
    ("domain", "B\u00fccher.example", "Must be in its ASCII form: xn--bcher-kva.example"),
    ("domain", "", "Length must be 1-253 characters"),
    ("domain", f"x{LONGEST}", "Length must be 1-253 characters"),
    ("domain", 7, "Must be a string"),
    ("type", "native", "Must be one of master, slave"),
    ("status", "edit_mode", "Must be one of disabled, active"),
    ("soa_email", "me", "Must be an email address"),
    ("soa_email", "me@", "Must be an email address"),
    ("soa_email", "me@example", "Must be an email address"),
    ("soa_email", "m e@example.com", "Must be an email address"),
    ("soa_email", f"{'l' * 64}@example.com", "Must have at most 63 characters before the @"),
    ("description", "d" * 254, "Length must be 0-253 characters"),
    ("group", "g" * 51, "Length must be 0-50 characters"),
    *(
        (name, value, reason)
        for name in ("master_ips", "axfr_ips")
        for value, reason in (
            (["ns1.example.com"], "Each must be an IP address"),
            (["192.0.2.0/24"], "Each must be an IP address"),
            (["::ffff:192.0.2.1"], MAPPED),
            (["192.0.2.1 "], "Each must be an IP address"),
            (["fe80::1%eth0"], "Each must be an IP address without a zone"),
            ("192.0.2.1", "Must be an array"),
            (["1.1.1.1"] * 143 + ["1.1.1.1"], "Length must be at most 1000 characters together"),
        )
    ),
    *(
        ("axfr_ips", [address], PRIVATE_REASON)
        for address in (
            *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "0.0.0.0"),
            *("224.0.0.1", "255.255.255.255", "100.64.0.1", "::1", "::", "fe80::1", "fc00::1"),
            *("ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::"),
        )
    ),
    *((name, -1, "Must be 0-2419200") for name in SECONDS),
    *((name, "300", "Must be an integer") for name in SECONDS),
    ("tags", ["ab"], "Length must be 3-50 characters"),
    ("dnssec", "yes", "Must be true or false"),
]


def refusal(field: str, reason: str) -> tuple[int, list[tuple[str | None, str]]]:
    return 400, [(f"{field}[0]" if field == "tags" else field, reason)]


@pytest.fixture
def master(account: Account) -> Json:
    """A body that makes a domain, with a name that no other test uses."""
    return {"domain": f"fields-{account.id}.example", "type": "master", "soa_email": EMAIL}


@pytest.mark.spec("B domain axfr_ips", "B domain status default")
async def test_defaults(client: Client, master: Json) -> None:
    """Master and slave each need one field more."""
    row = await client.post("/domains", master)
    assert row == {**DEFAULTS, **master, **{k: row[k] for k in ("id", "created", "updated")}}
    assert row["id"] >= 100_000
    slave = {"domain": f"of-{master['domain']}", **SLAVE}
    row = await client.post("/domains", slave)
    assert row == {**DEFAULTS, **slave, **{k: row[k] for k in ("id", "created", "updated")}}


@pytest.mark.spec(
    "B domain name",
    "B domain description",
    "B domain group",
    "B domain name labels",
    "B domain axfr_ips length",
)
@pytest.mark.parametrize(("field", "value"), VALID)
async def test_valid(client: Client, master: Json, field: str, value: Json) -> None:
    """What was sent is returned as sent, by the creation and by an update."""
    row = await client.post("/domains", {**master, field: value})
    assert row[field] == value
    path = f"/domains/{row['id']}"
    assert await client.get(path) == row
    await client.delete(path)
    if field != "domain":
        path = f"/domains/{(await client.post('/domains', master))['id']}"
        assert (await client.put(path, {field: value}))[field] == value
        assert (await client.get(path))[field] == value
        await client.delete(path)


@pytest.mark.spec(
    "B domain name",
    "B domain type",
    "B domain status",
    "B domain soa_email",
    "B domain description",
    "B domain group",
    "B domain name labels",
    "B domain master_ips length",
    "B domain axfr_ips length",
)
@pytest.mark.parametrize(("field", "value", "reason"), INVALID)
async def test_invalid(client: Client, master: Json, field: str, value: Json, reason: str) -> None:
    answer = await client.send("POST", "/domains", {**master, field: value})
    assert (answer.status, answer.problems) == refusal(field, reason)
    assert (await client.get("/domains"))["results"] == 0


async def test_invalid_updates(client: Client, master: Json) -> None:
    row = await client.post("/domains", master)
    path = f"/domains/{row['id']}"
    for field, value, reason in INVALID:
        answer = await client.send("PUT", path, {field: value})
        assert (answer.status, answer.problems) == refusal(field, reason)
    assert await client.get(path) == row


@pytest.mark.spec("B domain name required", "B domain type required")
async def test_all_problems_come_together(client: Client, master: Json) -> None:
    body = {"domain": "x", "soa_email": "y", "refresh_sec": -1, "tags": ["z"]}
    answer = await client.send("POST", "/domains", body)
    assert answer.problems == [
        ("domain", DOTTED_REASON),
        ("type", "type is required"),
        ("soa_email", "Must be an email address"),
        ("refresh_sec", "Must be 0-2419200"),
        ("tags[0]", "Length must be 3-50 characters"),
    ]
    assert (await client.send("POST", "/domains", {})).problems == [
        ("domain", "domain is required"),
        ("type", "type is required"),
    ]


@pytest.mark.spec("B domain seconds", "B domain seconds rounded")
@pytest.mark.parametrize("field", SECONDS)
async def test_seconds_are_rounded_up(client: Client, master: Json, field: str) -> None:
    path = f"/domains/{(await client.post('/domains', master))['id']}"
    for sent, kept in ROUNDED.items():
        assert (await client.put(path, {field: sent}))[field] == kept


@pytest.mark.spec("B domain record seconds", "B domain record seconds rounded")
async def test_a_records_seconds_are_rounded_to_the_nearest(client: Client, master: Json) -> None:
    """Of two that are as near, to the larger one; 0 stays the domain's own."""
    domain_id = (await client.post("/domains", master))["id"]
    path = f"/domains/{domain_id}/records"
    record = await client.post(path, {"type": "A", "target": "192.0.2.1"})
    assert record["ttl_sec"] == 0
    for sent, kept in RECORD_ROUNDED.items():
        assert (await client.put(f"{path}/{record['id']}", {"ttl_sec": sent}))["ttl_sec"] == kept


@pytest.mark.spec("B domain soa_email", "B domain master_ips")
async def test_what_a_type_demands(client: Client, master: Json) -> None:
    email = ("soa_email", "soa_email required when type=master")
    masters = (
        "master_ips",
        "You need at least one master DNS server IP address for this zone.",
    )
    answer = await client.send("POST", "/domains", {**master, "soa_email": ""})
    assert answer.problems == [email]
    answer = await client.send("POST", "/domains", {**master, **SLAVE, "master_ips": []})
    assert answer.problems == [masters]
    answer = await client.send("POST", "/domains", {**master, **SLAVE, "dnssec": True})
    assert answer.problems == [("dnssec", UNSIGNABLE)]
    made = await client.post("/domains", {**master, "dnssec": True})
    path = f"/domains/{made['id']}"
    answer = await client.send("PUT", path, {"type": "slave"})
    assert answer.problems == [masters, ("dnssec", UNSIGNABLE)]
    assert (await client.send("PUT", path, {"soa_email": ""})).problems == [email]
    changed = await client.put(path, {"dnssec": False, **SLAVE})
    assert (changed["type"], changed["soa_email"]) == ("slave", EMAIL)
    assert (await client.send("PUT", path, {"master_ips": []})).problems == [masters]
    assert (await client.put(path, {"type": "master"}))["master_ips"] == SLAVE["master_ips"]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "100.64.0.1"),
        *("::1", "fe80::1", "fc00::1", "ff02::1", "64:ff9b::7f00:1"),
    ],
)
async def test_masters_within_the_operators_network(
    client: Client, master: Json, address: str
) -> None:
    """A master keeps them and asks nobody; a slave would."""
    private = ("master_ips", PRIVATE_REASON)
    sent = {**master, **SLAVE, "master_ips": [address]}
    assert (await client.send("POST", "/domains", sent)).problems == [private]
    domain = await client.post("/domains", {**master, "master_ips": [address]})
    path = f"/domains/{domain['id']}"
    assert (await client.send("PUT", path, {"type": "slave"})).problems == [private]
    assert (await client.get(path))["master_ips"] == [address]
    sent = {"type": "slave", "master_ips": ["203.0.113.1"]}
    assert (await client.put(path, sent))["type"] == "slave"
    assert (await client.send("PUT", path, {"master_ips": [address]})).problems == [private]
    changed = await client.put(path, {"type": "master", "master_ips": [address]})
    assert changed["master_ips"] == [address]


async def test_a_record_can_be_sent_back_whole(client: Client, master: Json) -> None:
    domain = await client.post("/domains", master)
    path = f"/domains/{domain['id']}"
    for body in (
        {"type": "A", "name": "a", "target": "192.0.2.1"},
        {"type": "CAA", "name": "a", "target": "ca.example", "tag": "issue"},
        {"type": "SRV", "service": "s", "protocol": "t", "target": "x", "priority": 1}
        | {"weight": 2, "port": 3},
    ):
        record = await client.post(f"{path}/records", body)
        again = await client.put(f"{path}/records/{record['id']}", record)
        assert again == {**record, "updated": again["updated"]}
    again = await client.put(path, domain)
    assert again == {**domain, "updated": again["updated"]}
