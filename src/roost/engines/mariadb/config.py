"""The configuration of one server, by its plan."""

from collections.abc import Mapping
from types import MappingProxyType

from roost.engines.databases.folder import INSIDE
from roost.engines.mariadb.encryption import SETTINGS
from roost.resources.databases.engine import DatabaseSpec, temporary_room

_LEAST_POOL, _LEAST_LOG, _MOST_LOG = 64, 16, 256
"""MB"""
_LEAST_CONNECTIONS, _MOST_CONNECTIONS = 50, 2000
_LOGS_KEPT = 24 * 3600
"""Seconds; a replica that was away for longer is copied anew."""
_ACKNOWLEDGED_MS = 600_000
"""For so long a commit waits for a replica, which is as good as for ever."""
_LOGS: dict[str, object] = {
    "log-bin": INSIDE / "data" / "log",
    "log-bin-trust-function-creators": "ON",
    "binlog-format": "ROW",
    "sync-binlog": 1,
    "max-binlog-size": "64M",
    "binlog-expire-logs-seconds": _LOGS_KEPT,
    "gtid-strict-mode": "ON",
    "secure-timestamp": "SUPER",
}
"""Replicas and forks need them. No client may say when something was written."""

_PASSWORDS: dict[str, object] = {
    "plugin-load": "simple_password_check",
    "simple-password-check-minimal-length": 1000,
    "simple-password-check-digits": 1000,
    "simple-password-check-letters-same-case": 1000,
    "simple-password-check-other-characters": 1000,
}
"""No client finds a password that it may give itself: the one that the API shows is the one."""


def render(
    spec: DatabaseSpec,
    host: str,
    port: int,
    number: int | None = None,
    other: Mapping[str, object] = MappingProxyType({}),
) -> str:
    """`my.cnf`; the plan's memory goes half to the buffer pool. `number`: of a cluster's node;
    `other`: what is otherwise than usual. A client that is gone without a word holds its locks for
    two minutes, not for the eight hours of `wait_timeout`.

    No client reads or writes files of the host, loads code, or comes without TLS if that is
    required.
    """
    pool = max(_LEAST_POOL, spec.memory // 2)
    settings = {
        "datadir": INSIDE / "data",
        "tmpdir": INSIDE / "tmp",
        "socket": INSIDE / "socket",
        "pid-file": INSIDE / "data" / "server.pid",
        "bind-address": host,
        "port": port,
        "innodb-buffer-pool-size": f"{pool}M",
        "innodb-log-file-size": f"{min(_MOST_LOG, max(_LEAST_LOG, pool // 8))}M",
        "innodb-flush-log-at-trx-commit": 1,
        "innodb-flush-method": "O_DIRECT",
        "key-buffer-size": "1M",
        "aria-pagecache-buffer-size": "8M",
        "aria-log-file-size": "8M",
        "innodb-temp-data-file-path": f"ibtmp1:12M:autoextend:max:{_temporary_tables(spec)}M",
        "tmp-table-size": f"{max(4, spec.memory // 64)}M",
        "max-connections": min(_MOST_CONNECTIONS, max(_LEAST_CONNECTIONS, spec.memory // 8)),
        "max-allowed-packet": "64M",
        "tcp-keepalive-time": 60,
        "tcp-keepalive-interval": 10,
        "tcp-keepalive-probes": 6,
        "character-set-server": "utf8mb4",
        "collation-server": "utf8mb4_general_ci",
        "event-scheduler": "ON",
        "performance-schema": "OFF",
        "query-cache-size": 0,
        "skip-name-resolve": "ON",
        "symbolic-links": "OFF",
        "local-infile": "OFF",
        "secure-file-priv": INSIDE / "files",
        "ssl-ca": INSIDE / "tls" / "ca.pem",
        "ssl-cert": INSIDE / "tls" / "certificate.pem",
        "ssl-key": INSIDE / "tls" / "key.pem",
        "tls-version": "TLSv1.2,TLSv1.3",
        "require-secure-transport": "ON" if spec.shape.ssl_connection else "OFF",
    }
    settings |= _PASSWORDS
    settings |= _LOGS | {"server-id": number or 1}
    settings |= {} if number is None else _replication(spec)
    settings |= SETTINGS if spec.shape.encrypted else {}
    settings |= other
    lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
    return f"[mariadbd]\n{lines}"


def _temporary_tables(spec: DatabaseSpec) -> int:
    """MB of a file that does not become smaller before the next start."""
    return temporary_room(spec.disk) // 2


def _replication(spec: DatabaseSpec) -> dict[str, object]:
    """A server starts as nobody's replica, and read-only: what it is, it is told then."""
    return {
        "read-only": "ON",
        "event-scheduler": "OFF",
        "skip-slave-start": "ON",
        "log-slave-updates": "ON",
        "relay-log": INSIDE / "data" / "relay",
        "slave-parallel-threads": 4,
        "slave-parallel-mode": "optimistic",
        "rpl-semi-sync-slave-enabled": "ON" if is_semi_synchronous(spec) else "OFF",
        "rpl-semi-sync-master-wait-point": "AFTER_SYNC",
        "rpl-semi-sync-master-timeout": _ACKNOWLEDGED_MS,
        "rpl-semi-sync-master-wait-no-slave": "ON",
    }


def is_semi_synchronous(spec: DatabaseSpec) -> bool:
    """Whether a commit waits until a replica has it too."""
    return spec.shape.replication_type == "semi_synch"
