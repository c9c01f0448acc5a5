"""The configuration of one server, by its plan."""

from collections.abc import Mapping
from types import MappingProxyType

from roost.engines.databases.firewall import EVERYBODY
from roost.engines.databases.folder import INSIDE
from roost.engines.postgresql.folder import ARCHIVE, SOCKETS
from roost.resources.databases.engine import DatabaseSpec

ADMINISTRATOR = "postgres"
"""The server's administrator: root of the host, over the socket only."""
REPLICAS = "roost_replication"
"""As whom replicas of a cluster come."""
IDENTITIES = f"roost root {ADMINISTRATOR}\nroost postgres {ADMINISTRATOR}\n"

_LEAST_BUFFERS, _LEAST_WORK = 32, 4
_LEAST_LOG, _MOST_LOG = 80, 1024
"""MB"""
_LEAST_CONNECTIONS, _MOST_CONNECTIONS = 50, 500
_OWN_CONNECTIONS = 5
"""Connections that are Roost's own: it gets in whoever else is there."""


def render(
    spec: DatabaseSpec,
    host: str,
    port: int,
    other: Mapping[str, object] = MappingProxyType({}),
) -> str:
    """`postgresql.conf`; the plan's memory goes for a quarter to the shared buffers. `other`: what
    is otherwise than usual. A client that is gone without a word holds its locks for two minutes.

    Statements of clients are not logged, as they may have secrets in them.
    """
    log = min(_MOST_LOG, max(_LEAST_LOG, spec.disk // 32))
    connections = min(_MOST_CONNECTIONS, max(_LEAST_CONNECTIONS, spec.memory // 8))
    workers = spec.vcpus if spec.vcpus > 1 else 0
    settings: dict[str, object] = {
        "data_directory": INSIDE / "data",
        "hba_file": INSIDE / "pg_hba.conf",
        "ident_file": INSIDE / "pg_ident.conf",
        "listen_addresses": host,
        "port": port,
        "unix_socket_directories": SOCKETS,
        "unix_socket_permissions": "0700",
        "ssl": "on",
        "ssl_cert_file": INSIDE / "tls" / "certificate.pem",
        "ssl_key_file": INSIDE / "tls" / "key.pem",
        "ssl_min_protocol_version": "TLSv1.2",
        "password_encryption": "scram-sha-256",
        "max_connections": connections + _OWN_CONNECTIONS,
        "superuser_reserved_connections": _OWN_CONNECTIONS,
        "shared_buffers": f"{max(_LEAST_BUFFERS, spec.memory // 4)}MB",
        "effective_cache_size": f"{max(_LEAST_BUFFERS, spec.memory * 3 // 4)}MB",
        "work_mem": f"{max(_LEAST_WORK, spec.memory // 256)}MB",
        "maintenance_work_mem": f"{max(16, spec.memory // 16)}MB",
        "max_parallel_workers_per_gather": min(2, workers),
        "max_parallel_workers": workers,
        "max_parallel_maintenance_workers": min(2, workers),
        "jit": "off",
        "wal_level": "replica",
        "synchronous_commit": spec.shape.commit_type or "local",
        "max_wal_size": f"{log}MB",
        "min_wal_size": "32MB",
        "wal_keep_size": f"{log // 2}MB",
        "archive_mode": "on",
        "archive_library": "basic_archive",
        "basic_archive.archive_directory": ARCHIVE,
        "tcp_keepalives_idle": 60,
        "tcp_keepalives_interval": 10,
        "tcp_keepalives_count": 6,
        "timezone": "UTC",
        "log_timezone": "UTC",
        "lc_messages": "C.UTF-8",
        "logging_collector": "off",
        "log_min_messages": "log",
        "log_min_error_statement": "panic",
        "log_checkpoints": "off",
        "log_autovacuum_min_duration": -1,
        "log_parameter_max_length_on_error": 0,
    }
    settings |= other
    return "".join(f"{name} = '{value}'\n" for name, value in settings.items())


def access_kind(spec: DatabaseSpec) -> str:
    """How the account's user comes: by TLS if that is required."""
    return "hostssl" if spec.shape.ssl_connection else "host"


def render_access(
    kind: str, user: str, networks: tuple[str, ...], replicas: str | None = None
) -> str:
    """`pg_hba.conf`: the account's user from the networks of the allow list, and nobody else over
    the network but replicas from the address of their cluster."""
    everywhere = (*networks, "::/0") if EVERYBODY in networks else networks
    lines = (f"{kind} all {user} {each} scram-sha-256\n" for each in everywhere)
    following = "" if replicas is None else f"hostssl replication {REPLICAS} {replicas}/32"
    admitted = f"{following} scram-sha-256\n" if following else ""
    return f"{_LOCAL}{admitted}{''.join(lines)}"


_LOCAL = (
    f"local all {ADMINISTRATOR} peer map=roost\nlocal replication {ADMINISTRATOR} peer map=roost\n"
)
