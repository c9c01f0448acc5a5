"""Name servers under test, and a client that asks them."""

import itertools
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import dns.asyncquery
import dns.message
import dns.rdatatype
import dns.zone
import pytest
from dns.message import Message

from roost.clock import Clock
from roost.engines.listeners import Listener, free_tcp_port
from roost.engines.powerdns.backends import Backend, PostgresBackend, SqliteBackend
from roost.engines.powerdns.domains import PowerDns
from roost.engines.powerdns.folder import Folder
from roost.engines.powerdns.host import LocalHost
from roost.engines.powerdns.prerequisites import check
from roost.engines.powerdns.server import LocalServer
from roost.engines.simulated.domains import SimulatedDomains
from roost.resources.domains.engine import (
    DomainEngine,
    Master,
    RRset,
    Soa,
    Zone,
)
from roost.store.cluster import SETTINGS, Cluster
from tests.engines.harness import until

SOA = Soa("ns1.roost.test.", "hostmaster.roost.test.", 7, 14400, 7200, 1209600, 300, 600)
_numbers = itertools.count()
_addresses = itertools.count(1)


class ServingEngine(DomainEngine, Protocol):
    async def start(self) -> None: ...


class DnsHarness(Protocol):
    """One kind of engine."""

    @property
    def engine(self) -> ServingEngine:
        """One that answers."""

    def reopen(self) -> ServingEngine:
        """Another object over the same state, as after a restart or in a worker."""

    async def kill(self) -> None:
        """Let the name server die without a word."""

    def another(self, state_dir: Path, listener: Listener) -> ServingEngine:
        """A second server, elsewhere."""


class SimulatedDns:
    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self.engine = self.reopen()

    def reopen(self) -> SimulatedDomains:
        return SimulatedDomains(self._state_dir, 0, Clock(), None)

    def another(self, state_dir: Path, listener: Listener) -> SimulatedDomains:
        return SimulatedDomains(state_dir, 0, Clock(), (listener,))

    async def kill(self) -> None:
        """Its server is a part of us; another object takes over."""
        await self.engine.close()
        self.engine = self.reopen()
        await self.engine.start()


class PowerDnsHarness:
    def __init__(self, state_dir: Path, backend: Backend) -> None:
        self._state_dir = state_dir
        self._backend = backend
        self.engine = self.reopen()

    def reopen(self) -> PowerDns:
        return make_powerdns(self._state_dir, self._backend)

    def another(self, state_dir: Path, listener: Listener) -> PowerDns:
        return make_powerdns(state_dir, SqliteBackend(), listener)

    async def kill(self) -> None:
        process = local_server(self._state_dir, self._backend).process()
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        assert await process.gone(10)


def local_server(
    state_dir: Path, backend: Backend, listener: Listener | None = None
) -> LocalServer:
    listeners = None if listener is None else (listener,)
    return LocalServer(Folder(state_dir / "powerdns", backend, listeners))


def make_powerdns(state_dir: Path, backend: Backend, listener: Listener | None = None) -> PowerDns:
    return PowerDns(LocalHost(local_server(state_dir, backend, listener)))


@asynccontextmanager
async def open_harness(kind: str, state_dir: Path) -> AsyncIterator[DnsHarness]:
    """`simulated`, `powerdns` or `powerdns-postgresql`; it is gone afterwards."""
    if kind == "simulated":
        async with _opened(SimulatedDns(state_dir)) as harness:
            yield harness
    elif kind == "powerdns":
        refuse_without(SqliteBackend())
        async with _opened(PowerDnsHarness(state_dir, SqliteBackend())) as harness:
            yield harness
    else:
        async with _database(state_dir) as url:
            refuse_without(PostgresBackend(url))
            async with _opened(PowerDnsHarness(state_dir, PostgresBackend(url))) as harness:
                yield harness


@asynccontextmanager
async def _opened(harness: DnsHarness) -> AsyncIterator[DnsHarness]:
    try:
        await harness.engine.start()
        yield harness
    finally:
        await harness.engine.shut_down()
        await harness.engine.close()


def refuse_without(backend: Backend) -> None:
    """Skips, which is a failure where everything must be there."""
    if reason := check(backend):
        pytest.skip(reason)


@asynccontextmanager
async def _database(state_dir: Path) -> AsyncIterator[str]:
    """A PostgreSQL server that can be reached as the network's are."""
    port = free_tcp_port()
    settings = {**SETTINGS, "listen_addresses": "127.0.0.1", "port": str(port), "fsync": "off"}
    cluster = Cluster(state_dir / "postgres", None, settings)
    try:
        await cluster.launch()
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        await cluster.stop()


def own_listener(port: int = 5353) -> Listener:
    """At a loopback address that no other test of this host uses."""
    pid = os.getpid()
    return Listener(f"127.{64 + pid % 128}.{pid // 128 % 256}.{next(_addresses)}", port)


def own_address() -> Listener:
    """The same at port 53, where other name servers expect one."""
    listener = own_listener(53)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((listener.host, listener.port))
        except PermissionError:
            pytest.skip("port 53 needs root")
    return listener


def new_zone(*rrsets: RRset, **changes: object) -> Zone:
    """A master zone of this test alone; names of the RRsets end in `@`, which is the zone's."""
    name = f"z{next(_numbers)}-{os.getpid()}.example."
    found = (name_server(name), *(within(name, rrset) for rrset in rrsets))
    zone = Zone(name, "domain-100001", Master(SOA, tuple(sorted(found, key=lambda r: r.key))))
    return replace(zone, **changes)  # type: ignore[arg-type]


def within(zone: str, rrset: RRset) -> RRset:
    contents = frozenset(content.replace("@", zone) for content in rrset.contents)
    return replace(rrset, name=rrset.name.replace("@", zone), contents=contents)


def name_server(zone: str) -> RRset:
    return RRset(zone, "NS", 600, frozenset({"ns1.roost.test."}))


def rrset(name: str, kind: str, *contents: str, ttl: int = 300) -> RRset:
    return RRset(name, kind, ttl, frozenset(contents))


def master_of(zone: Zone) -> Master:
    assert isinstance(zone.content, Master)
    return zone.content


async def ask(
    engine: DomainEngine, name: str, kind: str, dnssec: bool = False, seconds: float = 20.0
) -> Message:
    """The server's answer, as any client gets it."""
    host, port = engine.listening[0]
    query = dns.message.make_query(name, kind, want_dnssec=dnssec)
    query.flags &= ~dns.flags.RD
    answer, _ = await dns.asyncquery.udp_with_fallback(query, host, port=port, timeout=seconds)
    return answer


async def contents(engine: DomainEngine, name: str, kind: str, seconds: float = 20.0) -> set[str]:
    """Of the records of just this name and type in the answer."""
    answer = await ask(engine, name, kind, seconds=seconds)
    wanted = dns.name.from_text(name), dns.rdatatype.from_text(kind)
    return {
        data.to_text()
        for each in answer.answer
        if (each.name, each.rdtype) == wanted
        for data in each
    }


async def code(engine: DomainEngine, name: str, kind: str = "A") -> str:
    return dns.rcode.to_text((await ask(engine, name, kind)).rcode())


async def transfer(engine: DomainEngine, zone: str, source: str | None = None) -> dns.zone.Zone:
    """Raises dns.xfr.TransferError."""
    host, port = engine.listening[0]
    found = dns.zone.Zone(zone, relativize=False)
    await dns.asyncquery.inbound_xfr(host, found, port=port, lifetime=10, source=source)
    return found


async def answered(
    engine: DomainEngine, name: str, kind: str, holds: Callable[[set[str]], bool]
) -> set[str]:
    """The first contents that hold."""

    async def look() -> set[str]:
        try:
            return await contents(engine, name, kind, seconds=0.2)
        except (OSError, dns.exception.Timeout):
            return set()

    return await until(look, holds)
