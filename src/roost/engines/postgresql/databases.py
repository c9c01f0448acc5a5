"""Managed databases as PostgreSQL servers of this host, one for each."""

from collections.abc import Mapping
from pathlib import Path

from roost.engines.databases.addresses import Addresses
from roost.engines.databases.engine import DatabaseServers, begins
from roost.engines.postgresql import forks
from roost.engines.postgresql.cluster import Cluster
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.host import Host
from roost.engines.postgresql.logs import Logs, Way
from roost.engines.postgresql.scratch import Scratch
from roost.engines.postgresql.server import Server
from roost.engines.postgresql.single import Single
from roost.resources.databases.engine import DatabaseShape, Objection


class PostgresqlDatabases(DatabaseServers[Folder, Way]):
    """A DatabaseEngine."""

    name = "postgresql"
    title = "PostgreSQL"

    def __init__(self, root: Path, versions: Mapping[str, str], addresses: Addresses) -> None:
        """`versions`: what is installed of each release series, the newest first."""
        self._host = Host(root, versions, addresses)
        super().__init__(self._host)

    @property
    def release(self) -> str:
        return " and ".join(self._host.versions.values())

    def objection(self, shape: DatabaseShape) -> Objection | None:
        known = self._host.versions.values()
        if shape.server != "postgresql" or not any(begins(v, shape.version) for v in known):
            return Objection("engine", f"The region has PostgreSQL {self.release} only")
        if shape.cluster_size != 1 and not self._host.addresses.can_forward:
            return Objection("cluster_size", "The region has single PostgreSQL servers only")
        if shape.encrypted:
            return Objection("encrypted", "The region has no encrypted PostgreSQL servers")
        return None

    def _server(self, node: Folder) -> Server:
        return Server(node)

    def _nodes(self, folder: Folder, *, clustered: bool) -> Single | Cluster:
        return Cluster(self._host, folder) if clustered else Single(self._host, folder)

    def _logs(self, folder: Folder) -> Logs:
        return Logs(folder)

    def _scratch(self, database_id: int) -> Scratch:
        return Scratch(self._host, database_id)

    def _take(self, way: Way, source: Folder, target: Folder) -> Way:
        return forks.take(way, source, target)

    def _clear(self, folder: Folder) -> None:
        forks.clear(folder)

    def _outdated(self, node: Folder) -> bool:
        return node.version not in ("", self._host.versions.get(node.major, node.version))
