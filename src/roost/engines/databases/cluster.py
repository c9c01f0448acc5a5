"""A database of three servers, of which one takes writes, whichever program it is."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from roost.engines.databases.firewall import End
from roost.engines.databases.host import F, ServerHost, port_of
from roost.engines.databases.roles import RolesFile
from roost.engines.databases.server import Server


class Members(Generic[F]):
    """Who is who in a cluster, and where clients find it. Whoever calls it holds the folder."""

    def __init__(self, host: ServerHost[F], folder: F) -> None:
        self._servers = host
        self._folder = folder
        self.roles = RolesFile(folder)

    @property
    def primary(self) -> F:
        return self._folder.node(self.roles.read().primary)

    def ends(self) -> list[End]:
        """The addresses and ports at which clients find the primary, then the replicas."""
        addresses, port = self._servers.addresses, port_of(self._folder)
        ends = [(addresses.listen, port)]
        beside = addresses.replicas_listen
        return ends if beside is None else [*ends, (beside, port)]

    async def open(self, database_id: int, following: Sequence[F]) -> None:
        """Let clients reach the primary, and these replicas."""
        targets = [port_of(self.primary)], [port_of(node) for node in following]
        ends = dict(zip(self.ends(), targets, strict=False))
        await self._servers.firewall.open(database_id, self._servers.addresses.listen, ends)


class ClusterServers(ABC, Generic[F]):
    """Whoever calls it holds the folder."""

    def __init__(self, host: ServerHost[F], folder: F, members: Members[F]) -> None:
        self._servers = host
        self._folder = folder
        self._members = members
        self._roles = members.roles

    @abstractmethod
    def _server(self, node: F) -> Server: ...

    @property
    def primary(self) -> F:
        return self._members.primary

    def runs(self) -> bool:
        """Whether all nodes do."""
        return not self._roles.read().lost and all(
            self._server(node).process() is not None for node in self._folder.nodes()
        )

    async def stop(self) -> None:
        await asyncio.gather(*(self._server(node).stop() for node in self._folder.nodes()))

    async def allow(self, database_id: int, networks: tuple[str, ...]) -> None:
        ports = [port_of(node) for node in self._folder.nodes()]
        listen = self._servers.addresses.listen
        await self._servers.firewall.allow_cluster(database_id, ports, listen, networks)

    async def forget(self, database_id: int) -> None:
        """The host's packet filter knows nothing of it any more."""
        ports = [port for node in self._folder.nodes() if (port := node.port) is not None]
        ends = self._members.ends() if self._folder.port is not None else []
        await self._servers.firewall.forget_cluster(database_id, ports, ends)
