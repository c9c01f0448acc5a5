"""Which engine answers DNS: the operator's wish, what holds the zones already, what works here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from roost.app.engines import EngineUnavailableError, Row
from roost.clock import Clock
from roost.engines.listeners import Listener, ListenerError, parse_listeners
from roost.engines.powerdns.backends import Backend, PostgresBackend, SqliteBackend
from roost.engines.powerdns.domains import PowerDns
from roost.engines.powerdns.folder import Folder
from roost.engines.powerdns.host import LocalHost
from roost.engines.powerdns.prerequisites import check
from roost.engines.powerdns.remote import RemoteServer
from roost.engines.powerdns.server import LocalServer
from roost.engines.simulated.domains import SimulatedDomains
from roost.resources.domains import engine_queries
from roost.resources.domains.engine import DomainEngine, EngineError
from roost.settings import Settings
from roost.store import Queries

NAME = "dns"
"""Of its row in health and lab, where engines of regions have the region's."""


class NameServer(DomainEngine, Protocol):
    async def start(self) -> None:
        """Answer queries, and see to it that they are answered from now on.

        Raises EngineError.
        """


@dataclass(frozen=True, slots=True)
class DnsBinding:
    """The engine of all zones, and why it is this one."""

    engine: NameServer
    real: bool
    why: str

    async def start(self) -> None:
        """Raises EngineUnavailableError."""
        try:
            await self.engine.start()
        except EngineError as error:
            raise EngineUnavailableError(f"DNS: {error}") from error

    def row(self) -> Row:
        """Of the start-up table."""
        where = ", ".join(str(Listener(host, port)) for host, port in self.engine.listening)
        return ("all", NAME, "real" if self.real else "simulated", f"{self.why}, at {where}")


async def bind_dns(settings: Settings, clock: Clock, db: Queries) -> DnsBinding:
    """Raises EngineUnavailableError when what is wanted, or holds the zones, cannot run here."""
    listeners = _listeners(settings)
    holder = await engine_queries.find_holder(db)
    if _wants_simulated(settings, holder):
        by_itself = settings.dns_engine == settings.engines == "auto"
        why = "it holds the zones" if by_itself else "only simulated engines are wanted"
        return _simulated(settings, clock, listeners, why)
    if settings.powerdns_url is not None:
        return _remote(settings, listeners)
    backend = _backend(settings)
    reason = check(backend)
    if reason is None:
        host = LocalHost(_local_server(settings.state, backend, listeners))
        return DnsBinding(PowerDns(host), True, f"PowerDNS with {backend.label}")
    if holder == PowerDns.name or _demands_real(settings):
        raise EngineUnavailableError(f"DNS: {reason}")
    return _simulated(settings, clock, listeners, reason)


async def stop_dns(state: Path) -> bool:
    """Stop the PowerDNS of a state, whatever the settings are now; whether one ran.

    Raises EngineError when it does not end.
    """
    server = _local_server(state, SqliteBackend(), None)
    ran = server.process() is not None
    await server.stop()
    return ran


def _local_server(
    state: Path, backend: Backend, listeners: tuple[Listener, ...] | None
) -> LocalServer:
    return LocalServer(Folder(state / "powerdns", backend, listeners))


def _wants_simulated(settings: Settings, holder: str | None) -> bool:
    """A choice of the operator's counts; without one the zones stay where they are."""
    if settings.dns_engine != "auto":
        return settings.dns_engine == "simulated"
    if settings.engines != "auto":
        return settings.engines == "simulated"
    return holder == SimulatedDomains.name


def _demands_real(settings: Settings) -> bool:
    return settings.dns_engine == "powerdns" or settings.engines == "local"


def _remote(settings: Settings, listeners: tuple[Listener, ...] | None) -> DnsBinding:
    assert settings.powerdns_url is not None
    if listeners is None or settings.powerdns_key_file is None:
        raise EngineUnavailableError(
            "DNS: ROOST_POWERDNS_URL needs ROOST_POWERDNS_KEY_FILE and ROOST_DNS_LISTEN beside it"
        )
    server = RemoteServer(settings.powerdns_url, settings.powerdns_key_file, listeners)
    return DnsBinding(PowerDns(server), True, f"PowerDNS of {settings.powerdns_url}")


def _simulated(
    settings: Settings, clock: Clock, listeners: tuple[Listener, ...] | None, why: str
) -> DnsBinding:
    directory = settings.state / "simulated" / NAME
    engine = SimulatedDomains(directory, settings.simulated_latency, clock, listeners)
    return DnsBinding(engine, False, why)


def _backend(settings: Settings) -> Backend:
    if settings.dns_database_url is None:
        return SqliteBackend()
    return PostgresBackend(settings.dns_database_url)


def _listeners(settings: Settings) -> tuple[Listener, ...] | None:
    try:
        return None if settings.dns_listen is None else parse_listeners(settings.dns_listen)
    except ListenerError as error:
        raise EngineUnavailableError(f"ROOST_DNS_LISTEN: {error}") from error
