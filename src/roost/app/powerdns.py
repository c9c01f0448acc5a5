"""PowerDNS as an operator sets it up. To load its HTTP client takes a tenth of a second, so this
is imported only where it is needed."""

from pathlib import Path

from roost.app.engines import EngineUnavailableError
from roost.engines.listeners import Listener
from roost.engines.powerdns.backends import Backend, PostgresBackend, SqliteBackend
from roost.engines.powerdns.domains import PowerDns
from roost.engines.powerdns.folder import Folder
from roost.engines.powerdns.host import LocalHost
from roost.engines.powerdns.prerequisites import check
from roost.engines.powerdns.remote import RemoteServer
from roost.engines.powerdns.server import LocalServer
from roost.settings import Settings

__all__ = ["backend_of", "check", "own_server", "remote", "runs", "stop"]


def backend_of(settings: Settings) -> Backend:
    if settings.dns_database_url is None:
        return SqliteBackend()
    return PostgresBackend(settings.dns_database_url)


def own_server(state: Path, backend: Backend, listeners: tuple[Listener, ...] | None) -> PowerDns:
    return PowerDns(LocalHost(_server(state, backend, listeners)))


def remote(settings: Settings, listeners: tuple[Listener, ...] | None) -> PowerDns:
    """Raises EngineUnavailableError."""
    assert settings.powerdns_url is not None
    if listeners is None or settings.powerdns_key_file is None:
        raise EngineUnavailableError(
            "DNS: ROOST_POWERDNS_URL needs ROOST_POWERDNS_KEY_FILE and ROOST_DNS_LISTEN beside it"
        )
    return PowerDns(RemoteServer(settings.powerdns_url, settings.powerdns_key_file, listeners))


def runs(state: Path) -> bool:
    """Whether the server of a state does."""
    return _server(state, SqliteBackend(), None).process() is not None


async def stop(state: Path) -> bool:
    """Stop the server of a state; whether one ran. Raises EngineError when it does not end."""
    ran = runs(state)
    await _server(state, SqliteBackend(), None).stop()
    return ran


def _server(state: Path, backend: Backend, listeners: tuple[Listener, ...] | None) -> LocalServer:
    return LocalServer(Folder(state / "powerdns", backend, listeners))
