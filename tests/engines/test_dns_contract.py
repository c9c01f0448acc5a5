"""The contract of DomainEngine: every engine passes the same tests."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import dns.flags
import dns.rdata
import dns.rdatatype
import pytest
import pytest_asyncio
from dns.rdataclass import IN
from dns.xfr import TransferError

from roost.resources.domains.engine import (
    Master,
    NoZoneError,
    RejectedError,
    RRKey,
    RRset,
    Slave,
    Zone,
    ZoneChange,
    ZoneHead,
)
from tests.engines.dns_harness import (
    SOA,
    DnsHarness,
    answered,
    ask,
    code,
    contents,
    master_of,
    new_zone,
    open_harness,
    rrset,
    transfer,
    within,
)
from tests.engines.dns_validation import validate

_LONG = " ".join(f'"{letter * 255}"' for letter in "abcde")

RECORDS = [
    rrset("www.@", "A", "192.0.2.1", "192.0.2.2", "192.0.2.255"),
    rrset("www.@", "AAAA", "2001:db8::1", "2001:db8::ffff:1"),
    rrset("sub.@", "NS", "ns1.sub.@", "ns.elsewhere.test."),
    rrset("@", "MX", "10 mail.@", "0 mail.elsewhere.test."),
    rrset("null.@", "MX", "0 ."),
    rrset("alias.@", "CNAME", "www.elsewhere.test."),
    rrset("@", "TXT", '"v=spf1 -all"', '"a \\"quoted\\" word and a \\\\"', '"caf\\195\\169"'),
    rrset("long.@", "TXT", _LONG),
    rrset("_sip._tcp.@", "SRV", "10 60 5060 sip.@", "0 0 65535 ."),
    rrset("1.@", "PTR", "host.elsewhere.test."),
    rrset(
        "@", "CAA", '0 issue "ca.test; account=1"', '0 iodef "mailto:x@y.test"', '128 issuewild ";"'
    ),
    rrset("*.wild.@", "A", "192.0.2.9"),
    rrset("0/25.@", "NS", "ns.elsewhere.test."),
    rrset("_under_score.@", "TXT", '"x"'),
    rrset("xn--bcher-kva.@", "A", "192.0.2.3"),
    rrset("ttl.@", "A", "192.0.2.4", ttl=2419200),
]


@pytest_asyncio.fixture(
    scope="module",
    params=[
        "simulated",
        pytest.param("powerdns", marks=pytest.mark.powerdns),
        pytest.param("powerdns-postgresql", marks=pytest.mark.powerdns),
    ],
)
async def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[DnsHarness]:
    async with open_harness(request.param, tmp_path_factory.mktemp("dns")) as harness:
        yield harness


@pytest_asyncio.fixture
async def zone(harness: DnsHarness) -> AsyncIterator[Zone]:
    """With www, and gone afterwards."""
    zone = new_zone(rrset("www.@", "A", "192.0.2.1"))
    await harness.engine.put_zone(zone)
    yield zone
    await harness.engine.delete_zone(zone.name)


def edit(zone: Zone, *put: RRset, drop: frozenset[RRKey] = frozenset(), by: int = 1) -> ZoneChange:
    soa = replace(master_of(zone).soa, serial=SOA.serial + by)
    return ZoneChange(zone.name, soa, tuple(within(zone.name, each) for each in put), drop)


async def serial(harness: DnsHarness, zone: Zone) -> int:
    answer = await ask(harness.engine, zone.name, "SOA")
    return int(answer.answer[0][0].serial)


async def test_a_healthy_engine_says_how_and_where_it_serves(harness: DnsHarness) -> None:
    health = await harness.engine.health()
    assert health.ok
    assert health.detail
    assert all(port > 0 for _, port in harness.engine.listening)


@pytest.mark.story
async def test_a_zone_answers_as_soon_as_it_is_put(harness: DnsHarness) -> None:
    zone = new_zone(rrset("www.@", "A", "192.0.2.1"))
    assert await code(harness.engine, f"www.{zone.name}") == "REFUSED"
    await harness.engine.put_zone(zone)
    answer = await ask(harness.engine, f"www.{zone.name}", "A")
    assert answer.flags & dns.flags.AA
    assert answer.answer[0].ttl == 300
    assert [data.to_text() for data in answer.answer[0]] == ["192.0.2.1"]


async def test_a_put_zone_is_held_as_it_was_put(harness: DnsHarness) -> None:
    zone = new_zone(*RECORDS, axfr_ips=("192.0.2.7", "2001:db8::/48"))
    await harness.engine.put_zone(zone)
    assert await harness.engine.inspect(zone.name) == zone
    await harness.engine.put_zone(zone)
    assert await harness.engine.inspect(zone.name) == zone
    assert ZoneHead(zone.name, zone.owner) in await harness.engine.zones()


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record.type}-{record.name}")
async def test_each_record_is_answered_byte_for_byte(harness: DnsHarness, record: RRset) -> None:
    zone = new_zone(record)
    wanted = within(zone.name, record)
    await harness.engine.put_zone(zone)
    answer = await ask(harness.engine, wanted.name, record.type)
    section = answer.answer or answer.authority
    assert section[0].ttl == record.ttl
    parsed = (dns.rdata.from_text(IN, record.type, content) for content in wanted.contents)
    assert {data.to_wire() for data in section[0]} == {data.to_wire() for data in parsed}
    await harness.engine.delete_zone(zone.name)


async def test_the_start_of_authority_is_the_one_given(harness: DnsHarness, zone: Zone) -> None:
    answer = await ask(harness.engine, zone.name, "SOA")
    assert answer.answer[0].ttl == SOA.ttl
    assert answer.answer[0][0].to_text() == SOA.content


async def test_absence_is_told_by_the_soa(harness: DnsHarness, zone: Zone) -> None:
    missing = await ask(harness.engine, f"nothing.{zone.name}", "A")
    assert missing.rcode() == dns.rcode.NXDOMAIN
    other = await ask(harness.engine, f"www.{zone.name}", "AAAA")
    assert other.rcode() == dns.rcode.NOERROR
    for answer in (missing, other):
        assert not answer.answer
        assert answer.authority[0].rdtype == dns.rdatatype.SOA
        assert answer.authority[0].ttl == SOA.minimum


async def test_a_name_between_others_exists(harness: DnsHarness) -> None:
    zone = new_zone(rrset("a.b.c.@", "A", "192.0.2.1"))
    await harness.engine.put_zone(zone)
    assert await code(harness.engine, f"b.c.{zone.name}") == "NOERROR"
    assert await code(harness.engine, f"x.c.{zone.name}") == "NXDOMAIN"


async def test_wildcards_answer_for_names_that_are_not_there(harness: DnsHarness) -> None:
    zone = new_zone(rrset("*.@", "A", "192.0.2.9"), rrset("own.@", "TXT", '"x"'))
    await harness.engine.put_zone(zone)
    assert await contents(harness.engine, f"any.{zone.name}", "A") == {"192.0.2.9"}
    assert await contents(harness.engine, f"deep.any.{zone.name}", "A") == {"192.0.2.9"}
    assert await contents(harness.engine, f"own.{zone.name}", "A") == set()


async def test_an_alias_is_followed_within_the_zone(harness: DnsHarness) -> None:
    zone = new_zone(
        rrset("a.@", "CNAME", "b.@"), rrset("b.@", "CNAME", "c.@"), rrset("c.@", "A", "192.0.2.3")
    )
    await harness.engine.put_zone(zone)
    answer = await ask(harness.engine, f"a.{zone.name}", "A")
    assert [each.rdtype.name for each in answer.answer] == ["CNAME", "CNAME", "A"]
    assert await contents(harness.engine, f"a.{zone.name}", "CNAME") == {f"b.{zone.name}"}


async def test_a_delegation_is_no_answer_of_ours(harness: DnsHarness) -> None:
    zone = new_zone(rrset("sub.@", "NS", "ns.sub.@"), rrset("ns.sub.@", "A", "192.0.2.5"))
    await harness.engine.put_zone(zone)
    answer = await ask(harness.engine, f"www.sub.{zone.name}", "A")
    assert not answer.flags & dns.flags.AA
    assert not answer.answer
    assert answer.authority[0].name.to_text() == f"sub.{zone.name}"
    assert answer.additional[0][0].to_text() == "192.0.2.5"


async def test_an_edit_is_seen_by_the_next_query(harness: DnsHarness, zone: Zone) -> None:
    for number in range(1, 6):
        name, address = f"new{number}.{zone.name}", f"192.0.2.{number}"
        assert await code(harness.engine, name) == "NXDOMAIN"
        await harness.engine.put_rrsets(edit(zone, rrset(name, "A", address), by=number))
        assert await contents(harness.engine, name, "A") == {address}
        assert await serial(harness, zone) == SOA.serial + number
    gone = frozenset({RRKey(f"new1.{zone.name}", "A"), RRKey(f"never.{zone.name}", "A")})
    await harness.engine.put_rrsets(edit(zone, drop=gone, by=6))
    assert await code(harness.engine, f"new1.{zone.name}") == "NXDOMAIN"
    assert await code(harness.engine, f"www.{zone.name}") == "NOERROR"


async def test_a_new_wildcard_is_seen_where_nothing_was(harness: DnsHarness, zone: Zone) -> None:
    names = [f"{label}.{zone.name}" for label in ("a", "b", "c.d")]
    for name in names:
        assert await code(harness.engine, name) == "NXDOMAIN"
    await harness.engine.put_rrsets(edit(zone, rrset("*.@", "A", "192.0.2.8")))
    for name in names:
        assert await contents(harness.engine, name, "A") == {"192.0.2.8"}


async def test_an_alias_takes_the_place_of_an_address(harness: DnsHarness, zone: Zone) -> None:
    www = f"www.{zone.name}"
    change = edit(zone, rrset(www, "CNAME", "x.test."), drop=frozenset({RRKey(www, "A")}))
    await harness.engine.put_rrsets(change)
    assert await contents(harness.engine, www, "CNAME") == {"x.test."}
    back = edit(zone, rrset(www, "A", "192.0.2.1"), drop=frozenset({RRKey(www, "CNAME")}), by=2)
    await harness.engine.put_rrsets(back)
    assert await contents(harness.engine, www, "A") == {"192.0.2.1"}


async def test_an_edit_can_be_repeated(harness: DnsHarness, zone: Zone) -> None:
    change = edit(zone, rrset("x.@", "A", "192.0.2.4"), drop=frozenset({RRKey("x.test.", "A")}))
    await harness.engine.put_rrsets(change)
    before = await harness.engine.inspect(zone.name)
    await harness.engine.put_rrsets(change)
    assert await harness.engine.inspect(zone.name) == before


async def test_a_rewritten_zone_is_the_new_one_alone(harness: DnsHarness, zone: Zone) -> None:
    other = new_zone(rrset("mail.@", "A", "192.0.2.6"))
    content = replace(
        master_of(other),
        soa=replace(SOA, serial=SOA.serial + 5),
        rrsets=tuple(
            replace(each, name=each.name.replace(other.name, zone.name))
            for each in master_of(other).rrsets
        ),
    )
    new = replace(zone, content=content)
    await harness.engine.put_zone(new)
    assert await harness.engine.inspect(zone.name) == new
    assert await code(harness.engine, f"www.{zone.name}") == "NXDOMAIN"
    assert await contents(harness.engine, f"mail.{zone.name}", "A") == {"192.0.2.6"}


async def test_an_inactive_zone_does_not_answer(harness: DnsHarness, zone: Zone) -> None:
    off = replace(zone, active=False, axfr_ips=("127.0.0.1",))
    await harness.engine.put_zone(off)
    for kind in ("A", "SOA", "NS"):
        assert await code(harness.engine, zone.name, kind) == "REFUSED"
    with pytest.raises(TransferError):
        await transfer(harness.engine, zone.name)
    with pytest.raises(NoZoneError):
        await harness.engine.put_rrsets(edit(zone, rrset("x.@", "A", "192.0.2.4")))
    assert await harness.engine.inspect(zone.name) == off
    assert ZoneHead(zone.name, zone.owner) in await harness.engine.zones()
    await harness.engine.put_zone(zone)
    assert await contents(harness.engine, f"www.{zone.name}", "A") == {"192.0.2.1"}
    assert await harness.engine.inspect(zone.name) == zone


async def test_a_zone_may_begin_inactive(harness: DnsHarness) -> None:
    zone = new_zone(active=False)
    await harness.engine.put_zone(zone)
    assert await code(harness.engine, zone.name, "SOA") == "REFUSED"
    assert await harness.engine.inspect(zone.name) == zone
    await harness.engine.put_zone(replace(zone, active=True))
    assert await code(harness.engine, zone.name, "SOA") == "NOERROR"


async def test_a_deleted_zone_is_gone(harness: DnsHarness, zone: Zone) -> None:
    await harness.engine.delete_zone(zone.name, "domain-7")
    assert await code(harness.engine, zone.name, "SOA") == "NOERROR"
    for _ in range(2):
        await harness.engine.delete_zone(zone.name, zone.owner)
        assert await code(harness.engine, zone.name, "SOA") == "REFUSED"
    assert await harness.engine.inspect(zone.name) is None
    assert zone.name not in [head.name for head in await harness.engine.zones()]
    late = edit(zone, rrset("x.@", "A", "192.0.2.4"))
    for change in (late, replace(late, known=True)):
        with pytest.raises(NoZoneError):
            await harness.engine.put_rrsets(change)
    with pytest.raises(NoZoneError):
        await harness.engine.ds_records(zone.name)
    with pytest.raises(NoZoneError):
        await harness.engine.transfer_status(zone.name)


async def test_another_owner_begins_anew(harness: DnsHarness) -> None:
    zone = new_zone(rrset("old.@", "A", "192.0.2.1"))
    signed = replace(zone, content=replace(master_of(zone), dnssec=True))
    await harness.engine.put_zone(signed)
    keys = await harness.engine.ds_records(zone.name)
    await harness.engine.put_zone(replace(signed, owner="domain-100002"))
    assert await harness.engine.ds_records(zone.name) != keys
    assert ZoneHead(zone.name, "domain-100002") in await harness.engine.zones()


async def test_content_that_no_server_takes_changes_nothing(
    harness: DnsHarness, zone: Zone
) -> None:
    before = await harness.engine.inspect(zone.name)
    for bad in (rrset("x.@", "A", "192.0.2"), rrset("x.elsewhere.test.", "A", "192.0.2.1")):
        with pytest.raises(RejectedError, match="refuses"):
            await harness.engine.put_rrsets(edit(zone, rrset("y.@", "A", "192.0.2.4"), bad))
    with pytest.raises(RejectedError):
        await harness.engine.put_rrsets(edit(zone, rrset("www.@", "CNAME", "x.test.")))
    assert await harness.engine.inspect(zone.name) == before
    assert await serial(harness, zone) == SOA.serial


async def test_many_zones_at_once(harness: DnsHarness) -> None:
    zones = [new_zone(rrset("www.@", "A", "192.0.2.1")) for _ in range(24)]
    other = harness.reopen()
    engines = (harness.engine, other)
    await asyncio.gather(*(engines[n % 2].put_zone(zone) for n, zone in enumerate(zones)))
    for zone in zones:
        assert await contents(harness.engine, f"www.{zone.name}", "A") == {"192.0.2.1"}
    await asyncio.gather(*(engines[n % 2].delete_zone(z.name) for n, z in enumerate(zones)))
    held = {head.name for head in await other.zones()}
    assert held.isdisjoint(zone.name for zone in zones)
    await other.close()


async def test_a_zone_is_transferred_to_those_who_may(harness: DnsHarness) -> None:
    zone = new_zone(*RECORDS, axfr_ips=("127.0.0.2", "127.0.8.0/24"))
    await harness.engine.put_zone(zone)
    for source in ("127.0.0.2", "127.0.8.9"):
        found = await transfer(harness.engine, zone.name, source)
        texts = {
            (name.to_text(), each.rdtype.name, each.ttl, frozenset(data.to_text() for data in each))
            for name, each in found.iterate_rdatasets()
        }
        assert len(texts) == len(RECORDS) + 2
        assert (f"www.{zone.name}", "A", 300, RECORDS[0].contents) in texts
    for source in ("127.0.0.1", "127.0.0.3"):
        with pytest.raises(TransferError):
            await transfer(harness.engine, zone.name, source)
    await harness.engine.put_zone(replace(zone, axfr_ips=()))
    with pytest.raises(TransferError):
        await transfer(harness.engine, zone.name, "127.0.0.2")


async def test_a_signed_zone_is_validated(harness: DnsHarness) -> None:
    zone = new_zone(
        *RECORDS,
        rrset("a.b.c.@", "A", "192.0.2.1"),
    )
    content = replace(master_of(zone), dnssec=True)
    await harness.engine.put_zone(zone)
    assert await harness.engine.ds_records(zone.name) == []
    await harness.engine.put_zone(replace(zone, content=content))
    records = await harness.engine.ds_records(zone.name)
    assert [record.digest_type for record in records] == [2, 4]
    names = [(zone.name, kind) for kind in ("SOA", "NS", "MX", "TXT", "CAA", "DNSKEY")]
    names += [(f"www.{zone.name}", "A"), (f"x.wild.{zone.name}", "A"), (f"sub.{zone.name}", "DS")]
    for name, kind in names:
        await validate(harness.engine, zone.name, records, name, kind)
    for name, kind in (
        (f"no.{zone.name}", "A"),
        (f"www.{zone.name}", "MX"),
        (f"b.c.{zone.name}", "A"),
    ):
        await validate(harness.engine, zone.name, records, name, kind)


async def test_keys_outlive_everything_but_the_end_of_signing(harness: DnsHarness) -> None:
    zone = new_zone(rrset("www.@", "A", "192.0.2.1"))
    signed = replace(zone, content=replace(master_of(zone), dnssec=True))
    await harness.engine.put_zone(signed)
    keys = await harness.engine.ds_records(zone.name)
    seen = await serial(harness, zone)
    await harness.engine.put_zone(signed)
    await harness.engine.put_rrsets(edit(zone, rrset("new.@", "A", "192.0.2.4")))
    await validate(harness.engine, zone.name, keys, f"new.{zone.name}", "A")
    await validate(harness.engine, zone.name, keys, f"no.{zone.name}", "A")
    assert seen < (seen := await serial(harness, zone))
    await harness.engine.put_zone(replace(signed, active=False))
    assert await harness.engine.ds_records(zone.name) == keys
    await harness.engine.put_zone(signed)
    assert await harness.engine.ds_records(zone.name) == keys
    await validate(harness.engine, zone.name, keys, f"www.{zone.name}", "A")
    await validate(harness.engine, zone.name, keys, f"no.{zone.name}", "A")
    plain = replace(master_of(zone), soa=replace(SOA, serial=SOA.serial + 2))
    await harness.engine.put_zone(replace(zone, content=plain))
    assert await harness.engine.ds_records(zone.name) == []
    answer = await ask(harness.engine, f"www.{zone.name}", "A", dnssec=True)
    assert [each.rdtype.name for each in answer.answer] == ["A"]
    assert seen < await serial(harness, zone)
    await harness.engine.put_zone(signed)
    new = await harness.engine.ds_records(zone.name)
    assert new != keys
    await validate(harness.engine, zone.name, new, f"no.{zone.name}", "A")


async def test_an_inactive_zone_may_be_signed(harness: DnsHarness) -> None:
    zone = new_zone(active=False)
    signed = replace(zone, content=replace(master_of(zone), dnssec=True))
    await harness.engine.put_zone(signed)
    assert await harness.engine.inspect(zone.name) == signed
    keys = await harness.engine.ds_records(zone.name)
    assert keys
    await harness.engine.put_zone(zone)
    assert await harness.engine.ds_records(zone.name) == []
    await harness.engine.put_zone(signed)
    keys = await harness.engine.ds_records(zone.name)
    await harness.engine.put_zone(replace(signed, active=True))
    await validate(harness.engine, zone.name, keys, f"no.{zone.name}", "A")
    await harness.engine.put_zone(zone)
    assert await harness.engine.ds_records(zone.name) == []


async def test_a_killed_server_comes_back_with_its_zones(harness: DnsHarness, zone: Zone) -> None:
    await harness.engine.put_rrsets(edit(zone, rrset("last.@", "A", "192.0.2.7")))
    await harness.kill()
    found = await answered(harness.engine, f"last.{zone.name}", "A", bool)
    assert found == {"192.0.2.7"}


async def test_a_call_does_not_fail_when_the_server_is_killed(
    harness: DnsHarness, zone: Zone
) -> None:
    await harness.kill()
    await harness.engine.put_rrsets(edit(zone, rrset("after.@", "A", "192.0.2.7")))
    assert await contents(harness.engine, f"after.{zone.name}", "A") == {"192.0.2.7"}


async def test_twelve_thousand_records(harness: DnsHarness) -> None:
    records = [rrset(f"h{n}.@", "A", f"192.0.{n // 250}.{n % 250}") for n in range(12_000)]
    zone = new_zone(*records)
    await harness.engine.put_zone(zone)
    last = await contents(harness.engine, f"h11999.{zone.name}", "A", seconds=30)
    assert last == {"192.0.47.249"}
    await harness.engine.put_rrsets(edit(zone, rrset("h1.@", "A", "192.0.2.200")))
    assert await contents(harness.engine, f"h1.{zone.name}", "A") == {"192.0.2.200"}
    held = await harness.engine.inspect(zone.name)
    assert held is not None
    assert len(master_of(held).rrsets) == 12_001
    await harness.engine.delete_zone(zone.name)
    assert await code(harness.engine, f"h1.{zone.name}") == "REFUSED"


async def test_a_slave_without_a_master_that_answers_has_nothing(harness: DnsHarness) -> None:
    zone = replace(new_zone(), content=Slave(("127.0.0.1",)))
    await harness.engine.put_zone(zone)
    assert await harness.engine.inspect(zone.name) == zone
    assert (await harness.engine.transfer_status(zone.name)).serial is None
    await harness.engine.retrieve(zone.name)
    assert await code(harness.engine, zone.name, "SOA") in ("REFUSED", "SERVFAIL")
    with pytest.raises(NoZoneError):
        await harness.engine.put_rrsets(ZoneChange(zone.name, SOA))
    off = replace(zone, active=False)
    await harness.engine.put_zone(off)
    assert await harness.engine.inspect(zone.name) == off
    with pytest.raises(NoZoneError):
        await harness.engine.retrieve(zone.name)
    with pytest.raises(NoZoneError):
        await harness.engine.transfer_status(zone.name)
    await harness.engine.delete_zone(zone.name)


async def test_a_zone_may_change_its_type(harness: DnsHarness, zone: Zone) -> None:
    slave = replace(zone, content=Slave(("127.0.0.1",)))
    await harness.engine.put_zone(slave)
    assert await harness.engine.inspect(zone.name) == slave
    await harness.engine.put_zone(zone)
    assert await harness.engine.inspect(zone.name) == zone
    assert await contents(harness.engine, f"www.{zone.name}", "A") == {"192.0.2.1"}
    assert isinstance(zone.content, Master)
