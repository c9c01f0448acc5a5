"""What the database servers of one region share on this host."""

import random
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Generic, TypeVar

from roost.certificates import Authority, Owner
from roost.core.engine import EngineError
from roost.engines.databases.addresses import Addresses
from roost.engines.databases.firewall import Firewall
from roost.engines.databases.folder import Folder, ids_in
from roost.engines.databases.limits import Limits
from roost.engines.listeners import Listener, is_free
from roost.engines.locks import locked
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import COMPUTING, DISK

PORTS = range(20_000, 32_000)
"""None that the kernel gives to whoever asks for any: the packets of those would be filtered, and
nobody holds the port at which a cluster is reached."""
_PORT_TRIES = 100

F = TypeVar("F", bound=Folder)


class ServerHost(ABC, Generic[F]):
    """Folders, ports, certificates and the packet filter."""

    def __init__(
        self, root: Path, addresses: Addresses, folders: type[F], ports: range = PORTS
    ) -> None:
        """`folders`: of what kind they are; `ports`: what servers may have, which those of another
        program on this host have not."""
        self.root = root.absolute()
        self.addresses = addresses
        self.firewall = Firewall(self.root)
        self.limits = Limits()
        self._folders = folders
        self._ports = ports
        self._authority = Authority(self.root, "Roost Managed Databases")

    @abstractmethod
    async def refresh(self) -> None:
        """Know which release of the program is installed now."""

    @property
    def certificate(self) -> str:
        """PEM; the authority's."""
        return self._authority.ensure()

    def folder(self, database_id: int) -> F:
        return self._folders.of(self.root, database_id)

    async def give_port(self, folder: Folder) -> int:
        """The folder's own, which no other one has, also while that is down."""
        if folder.port is None:
            async with locked(self.root):
                folder.set_port(await DISK.run(self._free_port))
        return port_of(folder)

    async def certify(self, node: Folder, spec: DatabaseSpec, owner: Owner) -> None:
        """Give the node a certificate with all names of its database, which `owner` reads."""
        async with locked(self.root):
            await COMPUTING.run(self._authority.ensure)
        names = self.addresses.certified(spec.id, spec.shape.cluster_size)
        await COMPUTING.run(self._authority.issue, node.path / "tls", names, owner)

    def limit_no_more(self, folder: Folder) -> None:
        """The database's servers have ended."""
        for node in folder.nodes():
            self.limits.remove(node)

    def _free_port(self) -> int:
        folders = [each for known in ids_in(self.root) for each in self.folder(known).all_nodes()]
        taken = {folder.port for folder in folders}
        for _ in range(_PORT_TRIES):
            port = random.choice(self._ports)
            if port not in taken and is_free(Listener(self.addresses.listen, port)):
                return port
        raise EngineError("No port is free for the database")


def port_of(folder: Folder) -> int:
    port = folder.port
    if port is None:
        raise EngineError("The port of the database is not known")
    return port
