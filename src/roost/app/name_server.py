"""Which engine answers DNS: the operator's wish, what holds the zones already, what works here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from roost.app.engines import EngineUnavailableError
from roost.app.served import is_served
from roost.clock import Clock
from roost.core.engine import EngineError
from roost.core.planes import EVERYWHERE, Binding
from roost.engines.listeners import Listener, ListenerError, parse_listeners
from roost.engines.simulated.domains import SimulatedDomains
from roost.resources.domains import holder_queries
from roost.resources.domains.engine import DomainEngine
from roost.settings import MAIN_HOST, Settings
from roost.store import Queries
from roost.threads import DISK

NAME = "dns"
"""Of its data plane, and of its row in the lab, where engines of regions have the region's."""


class NameServer(DomainEngine, Protocol):
    @property
    def restarts(self) -> int:
        """How often this process had to start it again."""

    async def start(self) -> None:
        """Answer queries, and see to it that they are answered from now on.

        Raises EngineError.
        """


async def start_dns(binding: Binding[NameServer]) -> None:
    """Raises EngineUnavailableError."""
    try:
        await binding.engine.start()
    except EngineError as error:
        raise EngineUnavailableError(f"DNS: {error}") from error


def with_addresses(binding: Binding[NameServer]) -> Binding[NameServer]:
    """Why it is this one, and where it answers."""
    where = ", ".join(str(Listener(host, port)) for host, port in binding.engine.listening)
    return replace(binding, why=f"{binding.why}, at {where}")


async def bind_dns(settings: Settings, clock: Clock, db: Queries) -> Binding[NameServer]:
    """Raises EngineUnavailableError when what is wanted, or holds the zones, cannot run here."""
    listeners = _listeners(settings)
    if settings.host != MAIN_HOST:
        return _simulated(settings, clock, (), "the main host answers")
    holder = await holder_queries.find_holder(db)
    if _wants_simulated(settings, holder):
        by_itself = settings.dns_engine == settings.engines == "auto"
        why = "it holds the zones" if by_itself else "only simulated engines are wanted"
        return _simulated(settings, clock, listeners, why)
    from roost.app import powerdns

    if settings.powerdns_url is not None:
        engine = powerdns.remote(settings, listeners)
        return Binding(NAME, EVERYWHERE, engine, True, f"PowerDNS of {settings.powerdns_url}")
    backend = powerdns.backend_of(settings)
    reason = powerdns.check(backend)
    if reason is None:
        engine = powerdns.own_server(settings.state, backend, listeners)
        return Binding(NAME, EVERYWHERE, engine, True, f"PowerDNS with {backend.label}")
    if holder not in (None, SimulatedDomains.name) or _demands_real(settings):
        raise EngineUnavailableError(f"DNS: {reason}")
    return _simulated(settings, clock, listeners, reason)


async def stop_dns(state: Path) -> bool:
    """Stop the PowerDNS of a state, whatever the settings are now; whether one ran.

    Raises EngineError when it does not end.
    """
    from roost.app import powerdns

    return await powerdns.stop(state)


@asynccontextmanager
async def dns_as_before(state: Path) -> AsyncIterator[None]:
    """A PowerDNS of the state that is started inside the block, by whoever asks it, stops after it.

    One that ran before goes on, and so does one that a server of the state needs by then.
    """
    from roost.app import powerdns

    ran = await DISK.run(powerdns.runs, state)
    try:
        yield
    finally:
        if not ran and not is_served(state):
            await stop_dns(state)


def _wants_simulated(settings: Settings, holder: str | None) -> bool:
    """A choice of the operator's counts; without one the zones stay where they are."""
    if settings.dns_engine != "auto":
        return settings.dns_engine == "simulated"
    if settings.engines != "auto":
        return settings.engines == "simulated"
    return holder == SimulatedDomains.name


def _demands_real(settings: Settings) -> bool:
    return settings.dns_engine == "powerdns" or settings.engines == "local"


def _simulated(
    settings: Settings, clock: Clock, listeners: tuple[Listener, ...] | None, why: str
) -> Binding[NameServer]:
    directory = settings.state / "simulated" / NAME
    engine = SimulatedDomains(directory, settings.simulated_latency, clock, listeners)
    return Binding(NAME, EVERYWHERE, engine, False, why)


def _listeners(settings: Settings) -> tuple[Listener, ...] | None:
    try:
        return None if settings.dns_listen is None else parse_listeners(settings.dns_listen)
    except ListenerError as error:
        raise EngineUnavailableError(f"ROOST_DNS_LISTEN: {error}") from error
