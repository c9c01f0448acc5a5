"""The configuration of one server, by its plan."""

from roost.engines.mariadb.folder import INSIDE
from roost.resources.databases.engine import DatabaseSpec

_LEAST_POOL, _LEAST_LOG, _MOST_LOG = 64, 16, 256
"""MB"""
_LEAST_CONNECTIONS, _MOST_CONNECTIONS = 50, 2000


def render(spec: DatabaseSpec, host: str, port: int) -> str:
    """`my.cnf`; the plan's memory goes half to the buffer pool.

    No client reads or writes files of the host, loads code, or comes without TLS if that is
    required.
    """
    pool = max(_LEAST_POOL, spec.memory // 2)
    settings = {
        "datadir": INSIDE / "data",
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
        "tmp-table-size": f"{max(4, spec.memory // 64)}M",
        "max-connections": min(_MOST_CONNECTIONS, max(_LEAST_CONNECTIONS, spec.memory // 8)),
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
    lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
    return f"[mariadbd]\n{lines}"
