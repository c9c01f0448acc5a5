"""`roost fsck` of zones: every difference is seen, named and mended, on each name server."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest

from roost.app.fsck import check_all
from roost.resources.domains.engine import (
    Master,
    RRset,
    Slave,
    Zone,
)
from roost.resources.domains.settings import Dns
from tests.api.dns_servers import ENGINES, Served, dns_roost, served_by
from tests.support.client import Json, until
from tests.support.database import DatabaseServer
from tests.support.resolving import answers, refused, told
from tests.support.server import RunningRoost


@pytest.fixture(scope="module", params=ENGINES)
async def few_zones(
    request: pytest.FixtureRequest,
    database_server: DatabaseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[str, RunningRoost]]:
    """A Roost without the zones of other tests, which each check would look at."""
    state = tmp_path_factory.mktemp("fsck")
    async with dns_roost(request.param, database_server, state) as running:
        yield request.param, running


@pytest.fixture
async def served(few_zones: tuple[str, RunningRoost]) -> AsyncIterator[Served]:
    async with served_by(*few_zones) as served:
        yield served


WORKED_ON = "select count(*) from job where kind = 'dns_zone_sync' and finished is null"

Tamper = Callable[[Served, Zone], Awaitable[None]]


async def check(served: Served, repair: bool = False) -> list[str]:
    lines: list[str] = []
    await check_all(served.roost, repair, lines.append)
    return lines


async def put(served: Served, zone: Zone, *rrsets: RRset, refresh: int | None = None) -> None:
    content = zone.content
    assert isinstance(content, Master)
    soa = content.soa if refresh is None else replace(content.soa, refresh=refresh)
    changed = replace(content, rrsets=rrsets, soa=soa)
    await served.roost.services.get(Dns).engine.put_zone(replace(zone, content=changed))


def others(zone: Zone, name: str) -> list[RRset]:
    assert isinstance(zone.content, Master)
    return [rrset for rrset in zone.content.rrsets if rrset.name != f"{name}.{zone.name}"]


async def drop(served: Served, zone: Zone) -> None:
    await put(served, zone, *others(zone, "www"))


async def add(served: Served, zone: Zone) -> None:
    extra = RRset(f"extra.{zone.name}", "A", 300, frozenset(["192.0.2.66"]))
    await put(served, zone, *others(zone, ""), extra)


async def change(served: Served, zone: Zone) -> None:
    other = RRset(f"www.{zone.name}", "A", 300, frozenset(["192.0.2.66"]))
    await put(served, zone, *others(zone, "www"), other)


async def change_ttl(served: Served, zone: Zone) -> None:
    other = RRset(f"www.{zone.name}", "A", 7200, frozenset(["192.0.2.1"]))
    await put(served, zone, *others(zone, "www"), other)


async def change_soa(served: Served, zone: Zone) -> None:
    await put(served, zone, *others(zone, ""), refresh=31)


async def delete(served: Served, zone: Zone) -> None:
    await served.roost.services.get(Dns).engine.delete_zone(zone.name)


async def stop(served: Served, zone: Zone) -> None:
    await served.roost.services.get(Dns).engine.put_zone(replace(zone, active=False))


async def open_up(served: Served, zone: Zone) -> None:
    zone = replace(zone, axfr_ips=("192.0.2.66",))
    await served.roost.services.get(Dns).engine.put_zone(zone)


async def sign(served: Served, zone: Zone) -> None:
    assert isinstance(zone.content, Master)
    content = replace(zone.content, dnssec=True)
    await served.roost.services.get(Dns).engine.put_zone(replace(zone, content=content))


async def follow(served: Served, zone: Zone) -> None:
    zone = replace(zone, content=Slave(("192.0.2.66",)))
    await served.roost.services.get(Dns).engine.put_zone(zone)


CASES = [
    (drop, "www.{zone}. A is missing"),
    (add, "extra.{zone}. A does not belong there"),
    (change, "www.{zone}. A is wrong"),
    (change_ttl, "www.{zone}. A is wrong"),
    (change_soa, "its SOA is another"),
    (delete, "the name server does not have it"),
    (stop, "it is not served"),
    (open_up, "other addresses may transfer it"),
    (sign, "it is signed"),
    (follow, "it is of another type"),
]


async def make(served: Served, zone: str) -> Json:
    body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
    domain = await served.client.post("/domains", body)
    path = f"/domains/{domain['id']}/records"
    record = {"type": "A", "name": "www", "target": "192.0.2.1", "ttl_sec": 300}
    await served.client.post(path, record)
    # As it is written here, not as the name server writes it.
    odd = {"type": "TXT", "name": "odd", "target": "caf\u00e9 " * 60, "ttl_sec": 300}
    await served.client.post(path, odd)
    await told(served.client)
    await until(lambda: check(served), lambda lines: lines == [])
    return domain


async def test_drift_of_a_zone(served: Served) -> None:
    zone = f"drift-{served.engine}.example"
    await make(served, zone)
    engine = served.roost.services.get(Dns).engine
    for tamper, text in CASES:
        held = await engine.inspect(f"{zone}.")
        assert held is not None
        await tamper(served, held)
        found = f"zone {zone}: {text.replace('{zone}', zone)}"
        assert await check(served) == [found], tamper.__name__
        assert await check(served, repair=True) == [f"{found}; a job puts it again"]
        await until(lambda: served.roost.store.fetchval(WORKED_ON), lambda zones: zones == 0)
        assert await check(served) == []
        assert await answers(served.server, f"www.{zone}", "A") == ["192.0.2.1"]
        assert await answers(served.server, f"extra.{zone}", "A") == []


async def test_addresses_in_any_writing_are_no_drift(served: Served) -> None:
    zone = f"written-{served.engine}.example"
    ips = ["2001:DB8:0::0053", "2001:db8::53", "192.0.2.53"]
    body = {"domain": zone, "type": "slave", "master_ips": ips, "axfr_ips": ips}
    assert (await served.client.post("/domains", body))["master_ips"] == ips
    await told(served.client)
    assert await check(served) == []
    held = await served.roost.services.get(Dns).engine.inspect(f"{zone}.")
    assert held is not None
    assert held.content == Slave(("2001:db8::53", "192.0.2.53"))


async def test_a_zone_that_nobody_has(served: Served) -> None:
    zone = f"orphan-{served.engine}.example"
    domain = await make(served, zone)
    await served.roost.store.execute("delete from domain where id = $1", domain["id"])
    found = f"zone {zone}: nobody has it, but the name server does"
    assert await check(served) == [found]
    assert await check(served, repair=True) == [f"{found}; deleted it"]
    assert await refused(served.server, zone)


async def test_reverse_dns(served: Served) -> None:
    engine = served.roost.services.get(Dns).engine
    await until(lambda: check(served), lambda lines: lines == [])
    zone = "100.51.198.in-addr.arpa"
    await engine.delete_zone(f"{zone}.")
    found = f"zone {zone} of reverse DNS: the name server does not have it"
    assert await check(served) == [found]
    assert await check(served, repair=True) == [f"{found}; put it again"]
    pointer = f"7.{zone}"
    assert await answers(served.server, pointer, "PTR") == ["198-51-100-7.ip.roost.internal."]
    assert await check(served) == []
