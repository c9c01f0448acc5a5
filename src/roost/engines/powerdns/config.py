"""The configuration of PowerDNS, as `pdns.conf` has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from roost.engines.listeners import LOOPBACK, Listener

VISIBLE_AT_ONCE: Mapping[str, str] = {
    "cache-ttl": "0",
    "query-cache-ttl": "0",
    "negquery-cache-ttl": "0",
    "zone-cache-refresh-interval": "0",
}
"""Without caches, as the server forgets too little when the API changes something: not the name
that was asked before its zone was, nor those that a new wildcard covers."""

TRANSFERS: Mapping[str, str] = {
    "primary": "yes",
    "secondary": "yes",
    "disable-axfr": "no",
    "allow-axfr-ips": "",
    "only-notify": "",
    "also-notify": "",
}
"""Who may transfer, and is notified, is said by each zone alone."""

_ANYWHERE = (LOOPBACK, "::1", "0.0.0.0", "::")  # noqa: S104 - nothing listens here
"""No addresses to call others from."""

_FIXED: Mapping[str, str] = {
    **VISIBLE_AT_ONCE,
    **TRANSFERS,
    "api": "yes",
    "daemon": "no",
    "default-ksk-algorithm": "ecdsa256",
    "default-zsk-algorithm": "",
    "disable-syslog": "yes",
    "guardian": "no",
    "loglevel": "3",
    "max-tcp-connections": "128",
    "receiver-threads": "2",
    "retrieval-threads": "4",
    "security-poll-suffix": "",
    "version-string": "anonymous",
    "webserver": "yes",
    "webserver-address": LOOPBACK,
    "webserver-allow-from": f"{LOOPBACK}/32",
    "webserver-loglevel": "none",
    "webserver-max-bodysize": "256",
    "xfr-max-received-mbytes": "32",
    "write-pid": "no",
    "xfr-cycle-interval": "1",
}


class ConfigError(Exception):
    """A setting that the configuration cannot hold; the text names it, never its value."""


@dataclass(frozen=True, slots=True)
class Account:
    """The user that the server runs as, when root starts it, and the folder it is locked into."""

    user: str
    root: str | None


def render(
    listeners: tuple[Listener, ...],
    api_port: int,
    api_key: str,
    sockets: str,
    backend: Mapping[str, str],
    account: Account | None,
) -> str:
    """The file's text. Raises ConfigError."""
    settings = {
        **_FIXED,
        **backend,
        "api-key": api_key,
        # The pages beside the API, which tell names of zones, want it too.
        "webserver-password": api_key,
        "local-address": ", ".join(map(str, listeners)),
        "query-local-address": _own_addresses(listeners),
        "socket-dir": sockets,
        "webserver-port": str(api_port),
    }
    if account is not None:
        settings |= {"setuid": account.user, "setgid": account.user}
        settings |= {"chroot": account.root} if account.root is not None else {}
    return "".join(f"{name}={_plain(name, settings[name])}\n" for name in sorted(settings))


def sqlite_backend(path: str) -> Mapping[str, str]:
    return {
        "launch": "gsqlite3",
        "gsqlite3-database": path,
        "gsqlite3-dnssec": "yes",
        "gsqlite3-pragma-synchronous": "2",
    }


def postgres_backend(url: str) -> Mapping[str, str]:
    """Read the backend from `postgresql://user:password@host:port/database?sslmode=require`.

    Raises ConfigError.
    """
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    host = query.pop("host", parts.hostname or "")
    if parts.scheme not in ("postgresql", "postgres") or not host:
        raise ConfigError("the URL of the name server's database is not one of PostgreSQL")
    return {
        "launch": "gpgsql",
        "gpgsql-dnssec": "yes",
        "gpgsql-host": host,
        "gpgsql-port": query.pop("port", str(parts.port or 5432)),
        "gpgsql-dbname": unquote(parts.path.removeprefix("/")),
        "gpgsql-user": query.pop("user", unquote(parts.username or "")),
        "gpgsql-password": unquote(parts.password or ""),
        "gpgsql-extra-connection-parameters": urlencode(query).replace("&", " "),
    }


def _own_addresses(listeners: tuple[Listener, ...]) -> str:
    """Other servers know this one by the address at which it answers them."""
    hosts = [ip_address(listener.host) for listener in listeners]
    chosen = []
    for version, any_address in ((4, "0.0.0.0"), (6, "::")):  # noqa: S104 - nothing listens here
        own = (str(host) for host in hosts if host.version == version)
        chosen.append(next((host for host in own if host not in _ANYWHERE), any_address))
    return " ".join(chosen)


def _plain(name: str, value: str) -> str:
    """The file knows no quotes: what it would read otherwise than meant is refused."""
    if "\n" in value or " #" in value or value.endswith("\\") or value != value.strip():
        raise ConfigError(f"{name} has characters that the name server's configuration cannot hold")
    return value
