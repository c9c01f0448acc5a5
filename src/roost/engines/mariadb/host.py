"""What the databases of one region share on this host."""

import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from types import MappingProxyType

from roost.certificates import Authority
from roost.core.engine import EngineError
from roost.engines.listeners import Listener, is_free
from roost.engines.locks import locked
from roost.engines.mariadb.config import render
from roost.engines.mariadb.encryption import Keys
from roost.engines.mariadb.firewall import Firewall
from roost.engines.mariadb.folder import Folder, ids_in
from roost.engines.mariadb.limits import Limits
from roost.engines.mariadb.server import owner
from roost.engines.mariadb.template import Template
from roost.engines.mariadb.temporary import lay_out
from roost.resources.databases.engine import DatabaseSpec, HostName, Hosts, host_name
from roost.threads import COMPUTING, DISK

_PORTS = range(20_000, 32_000)
"""None that the kernel gives to whoever asks for any: the packets of those would be filtered, and
nobody holds the port at which a cluster is reached."""
_PORT_TRIES = 100
_LOOPBACK, _BESIDE = "127.0.0.1", "127.0.0.2"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where servers listen, and what clients call them."""

    listen: str
    name: str | None
    """What all are called alike; None: each has a name of its own."""
    replicas_listen: str | None
    """Where the replicas of clusters are reached; None: nowhere."""
    replicas_name: str | None
    zone: str
    """Of names of their own."""

    @classmethod
    def of(
        cls,
        listen: str,
        name: str | None,
        replicas: str | None,
        replicas_name: str | None,
        zone: str,
    ) -> "Addresses":
        """On the loopback interface there is always an address for the replicas too."""
        beside = _BESIDE if listen == _LOOPBACK else None
        return cls(listen, name, replicas or beside, replicas_name, zone)

    @property
    def can_forward(self) -> bool:
        """Whether packets for it can be handed to another port of it."""
        address = ip_address(self.listen)
        return isinstance(address, IPv4Address) and not address.is_unspecified

    def hosts(self, database_id: int, cluster_size: int) -> Hosts:
        """A name leads to where they listen, if that is one address."""
        own, replicas = (host_name(database_id, self.zone, replicas=each) for each in (False, True))
        primary = _host(self.name, own, self.listen)
        if cluster_size == 1 or self.replicas_listen is None:
            return Hosts(primary, None)
        return Hosts(primary, _host(self.replicas_name, replicas, self.replicas_listen))

    def certified(self, database_id: int, cluster_size: int) -> tuple[str, ...]:
        """Names and addresses of its certificates."""
        names = (host.name for host in self.hosts(database_id, cluster_size).all)
        addresses = (self.listen, self.replicas_listen)
        found = (*names, *(each for each in addresses if each is not None))
        return tuple(dict.fromkeys(found))


def _host(common: str | None, own: str, listen: str) -> HostName:
    if common is not None or ip_address(listen).is_unspecified:
        return HostName(common or listen, None)
    return HostName(own, listen)


class Host:
    def __init__(self, root: Path, version: str, addresses: Addresses, key_file: Path) -> None:
        """`version`: of the programs; `key_file`: what seals those of encrypted data."""
        self.root = root.absolute()
        self.version = version
        self.addresses = addresses
        self.firewall = Firewall(self.root)
        self.keys = Keys(key_file)
        self.limits = Limits()
        self.template = Template(self.root, version)
        self._authority = Authority(self.root, "Roost Managed Databases")

    @property
    def certificate(self) -> str:
        """PEM; the authority's."""
        return self._authority.ensure()

    def folder(self, database_id: int) -> Folder:
        return Folder.of(self.root, database_id)

    async def give_port(self, folder: Folder) -> int:
        """The folder's own, which no other one has, also while that is down."""
        if folder.port is None:
            async with locked(self.root):
                folder.set_port(await DISK.run(self._free_port))
        return port_of(folder)

    async def fill(self, database: Folder, node: Folder, *, encrypted: bool) -> None:
        """Empty data for a node of the database, or for itself."""
        if encrypted:
            self.keys.make(database)
        key = self.keys.of(database)
        if key is None:
            await self.template.copy(node.data)
        else:
            await self.template.make_encrypted(node, key)

    async def configure(
        self,
        node: Folder,
        spec: DatabaseSpec,
        port: int,
        number: int | None = None,
        other: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """What a server reads when it starts; with its `number` in a cluster, and with what is
        otherwise than usual."""
        async with locked(self.root):
            await COMPUTING.run(self._authority.ensure)
        tls = node.path / "tls"
        names = self.addresses.certified(spec.id, spec.shape.cluster_size)
        await COMPUTING.run(self._authority.issue, tls, names, owner())
        node.files.mkdir(mode=0o700, exist_ok=True)
        node.temporary.mkdir(mode=0o700, exist_ok=True)
        os.chown(node.temporary, *owner())
        await lay_out(node, spec.disk, owner())
        node.configuration.write_text(render(spec, self.addresses.listen, port, number, other))
        node.set_version(self.version)
        node.set_disk(spec.disk)

    def limit_no_more(self, folder: Folder) -> None:
        """The database's servers have ended."""
        for node in folder.nodes():
            self.limits.remove(node)

    def _free_port(self) -> int:
        folders = [each for known in ids_in(self.root) for each in self.folder(known).all_nodes()]
        taken = {folder.port for folder in folders}
        for _ in range(_PORT_TRIES):
            port = random.choice(_PORTS)
            if port not in taken and is_free(Listener(self.addresses.listen, port)):
                return port
        raise EngineError("No port is free for the database")


def port_of(folder: Folder) -> int:
    port = folder.port
    if port is None:
        raise EngineError("The port of the database is not known")
    return port
