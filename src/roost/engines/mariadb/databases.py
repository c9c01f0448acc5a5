"""Managed databases as MariaDB servers of this host: one for each, or three in a cluster."""

from pathlib import Path

from roost.engines.databases.addresses import Addresses
from roost.engines.databases.engine import DatabaseServers, begins
from roost.engines.mariadb import forks
from roost.engines.mariadb.cluster import Cluster
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.host import Host
from roost.engines.mariadb.logs import Logs, Way
from roost.engines.mariadb.scratch import Scratch
from roost.engines.mariadb.server import Server
from roost.engines.mariadb.single import Single
from roost.resources.databases.engine import DatabaseShape, Objection


class MariadbDatabases(DatabaseServers[Folder, Way]):
    """A DatabaseEngine."""

    name = "mariadb"
    title = "MariaDB"

    def __init__(self, root: Path, version: str, addresses: Addresses, key_file: Path) -> None:
        """`version`: of the programs; `key_file`: what seals those of encrypted data."""
        self._host = Host(root, version, addresses, key_file)
        super().__init__(self._host)

    @property
    def release(self) -> str:
        return self._host.version

    def objection(self, shape: DatabaseShape) -> Objection | None:
        version = self._host.version
        if shape.server != "mariadb" or not begins(version, shape.version):
            return Objection("engine", f"The region has MariaDB {version} only")
        if shape.cluster_size != 1 and not self._host.addresses.can_forward:
            return Objection("cluster_size", "The region has single nodes only")
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
        return node.version not in ("", self._host.version)
