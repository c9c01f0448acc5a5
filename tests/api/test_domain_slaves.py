"""Zones that follow other servers, and servers that follow zones, at the port of DNS."""

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import dns.asyncquery
import dns.exception
import dns.xfr
import dns.zone
import pytest

from roost.clock import Clock
from roost.engines.listeners import Listener
from roost.engines.simulated.domains import SimulatedDomains
from roost.resources.domains.engine import (
    Master,
    RRset,
    Slave,
    Soa,
    Zone,
)
from tests.api.dns_servers import ENGINES, Served, dns_roost, served_by
from tests.support.client import until
from tests.support.database import DatabaseServer
from tests.support.resolving import answers, told

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may have port 53")

OWN, OTHER = "127.0.78.1", "127.0.78.2"
_SOA = Soa("ns.example.net.", "me.example.net.", 7, 3600, 600, 86400, 300, 300)


@pytest.fixture(params=ENGINES)
async def served(
    request: pytest.FixtureRequest, database_server: DatabaseServer, tmp_path: Path
) -> AsyncIterator[Served]:
    state = tmp_path / "roost"
    async with (
        dns_roost(request.param, database_server, state, dns_listen=f"{OWN}:53") as running,
        served_by(request.param, running) as served,
    ):
        yield served


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[SimulatedDomains]:
    """Another name server."""
    engine = SimulatedDomains(tmp_path / "other", 0, Clock(), (Listener(OTHER, 53),))
    await engine.start()
    yield engine
    await engine.close()


@pytest.mark.spec("B domain axfr_ips")
async def test_both_ways(served: Served, other: SimulatedDomains) -> None:
    """A slave follows its master's NOTIFY; a master lets `axfr_ips` follow, and nobody else."""
    await follows(served, other)
    await is_followed(served, other)


async def follows(served: Served, other: SimulatedDomains) -> None:
    zone, client = f"follows-{served.engine}.example", served.client
    # A transfer may come from any of our own addresses; NOTIFY goes to each.
    ours = ("127.0.0.1", OWN)
    nameserver = RRset(f"{zone}.", "NS", 300, frozenset(["ns.example.net."]))
    first = RRset(f"www.{zone}.", "A", 300, frozenset(["192.0.2.1"]))
    wanted = Zone(f"{zone}.", "other", Master(_SOA, (nameserver, first)), ours)
    await other.put_zone(wanted)
    body = {"domain": zone, "type": "slave", "master_ips": [OTHER]}
    domain = await client.post("/domains", body)
    await until(lambda: answers(served.server, f"www.{zone}", "A"), lambda a: a == ["192.0.2.1"])
    second = replace(first, contents=frozenset(["192.0.2.2"]))
    content = Master(replace(_SOA, serial=8), (nameserver, second))
    await other.put_zone(replace(wanted, content=content))
    await until(lambda: answers(served.server, f"www.{zone}", "A"), lambda a: a == ["192.0.2.2"])
    path = f"/domains/{domain['id']}"
    await client.put(path, {"type": "master", "soa_email": "me@example.com"})
    assert {event["status"] for event in await told(client)} == {"finished"}
    assert await answers(served.server, f"www.{zone}", "A") == []


async def is_followed(served: Served, other: SimulatedDomains) -> None:
    zone, client = f"followed-{served.engine}.example", served.client
    body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
    domain = await client.post("/domains", body)
    path = f"/domains/{domain['id']}"
    await client.post(f"{path}/records", {"type": "A", "name": "www", "target": "192.0.2.1"})
    await told(client)
    assert not await may_transfer(zone)
    await client.put(path, {"axfr_ips": ["127.0.0.1", OTHER]})
    await told(client)
    assert await may_transfer(zone)
    await other.put_zone(Zone(f"{zone}.", "other", Slave((OWN,))))
    there = (OTHER, 53)
    await until(lambda: answers(there, f"www.{zone}", "A"), lambda a: a == ["192.0.2.1"])
    await client.post(f"{path}/records", {"type": "A", "name": "new", "target": "192.0.2.2"})
    await until(lambda: answers(there, f"new.{zone}", "A"), lambda a: a == ["192.0.2.2"])
    await client.put(path, {"axfr_ips": []})
    await told(client)
    assert not await may_transfer(zone)


async def may_transfer(zone: str) -> bool:
    found = dns.zone.Zone(f"{zone}.", relativize=False)
    try:
        await dns.asyncquery.inbound_xfr(OWN, found, lifetime=10)
    except (dns.xfr.TransferError, dns.exception.FormError, EOFError, OSError):
        return False
    return True
