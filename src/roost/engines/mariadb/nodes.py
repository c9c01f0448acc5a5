"""The nodes of a cluster: who of them leads, and how replicas come to follow it."""

import asyncio
from contextlib import suppress

import structlog
from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases.cluster import Members
from roost.engines.databases.host import port_of
from roost.engines.databases.keeping import unkept
from roost.engines.mariadb import backups, replication
from roost.engines.mariadb.config import is_semi_synchronous
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.host import Host
from roost.engines.mariadb.logs import Logs
from roost.engines.mariadb.replication import Source
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import DatabaseSpec

_FOLLOW_SECONDS, _POLL_SECONDS, _SAY_SECONDS = 30.0, 0.1, 4.0

_log = structlog.get_logger(__name__)


class Nodes(Members[Folder]):
    """Whoever calls it holds the folder."""

    def __init__(self, host: Host, folder: Folder) -> None:
        super().__init__(host, folder)
        self._host = host

    @property
    def key(self) -> SecretStr | None:
        """The key of encrypted data, which all nodes share; None where they are not encrypted."""
        return self._host.keys.of(self._folder)

    def _source(self) -> Source:
        password = SecretStr(self._folder.read("replication"))
        return Source(self._host.addresses.listen, port_of(self.primary), password)

    def running_replicas(self) -> list[Folder]:
        return [node for node in self.roles.following() if Server(node).process() is not None]

    async def are_sound(self) -> bool:
        """Whether no replica has stopped on an error, as far as they say in a few seconds: of those
        that hang others tell (`faults`)."""
        for node in self.running_replicas():
            with suppress(EngineError, TimeoutError):
                async with asyncio.timeout(_SAY_SECONDS):
                    found = await replication.following(Server(node))
                if found is not None and found.error:
                    return False
        return True

    async def candidates(self) -> list[int]:
        """Replicas that answer and follow, and so may lead; last those stopped on an error."""
        errors = {}
        for number in self.roles.replicas():
            server, lost = Server(self._folder.node(number)), number in self.roles.read().lost
            if not lost and await server.answers():
                found = await replication.following(server)
                if found is not None:
                    errors[number] = found.error
        return sorted(errors, key=lambda number: errors[number] != 0)

    async def start(self, number: int, spec: DatabaseSpec) -> None:
        """Start a node with the limits of its plan, unless it answers; one that hangs is killed."""
        node = self._folder.node(number)
        server = Server(node)
        if await server.answers():
            return
        await server.kill()
        await self._host.configure(node, spec, port_of(node), number)
        self._host.limits.put(node, spec)
        await server.start(self.key)

    async def lead(self, spec: DatabaseSpec) -> None:
        """Let the node that the roles name take writes, and nobody else; then clients reach it."""
        server, source = Server(self.primary), self._source()
        following = []
        for number in self.roles.replicas():
            node = self._folder.node(number)
            if number in self.roles.read().lost or not await Server(node).answers():
                continue
            if await self._turn(node, source):
                following.append(node)
            else:
                self.roles.change_lost(number, lost=True)
        await replication.lead(server, waits=bool(following) and is_semi_synchronous(spec))
        await replication.admit_replicas(server, source)
        await self.open(spec.id, following)

    async def _turn(self, node: Folder, source: Source) -> bool:
        """Let a replica follow the present primary, and go on with what it is applying.

        False for one that has stopped on an error, as what it has differs from the primary: it
        would stop again, and has to be a copy.
        """
        found = await replication.following(Server(node))
        if found is not None and found.error:
            _log.warning("database_replica_stopped", node=str(node.path), error=found.error)
            return False
        if found is None or found.port != source.port or not found.applies:
            await replication.follow(Server(node), source)
        elif not found.receives:
            await replication.receive(Server(node))
        return True

    async def rejoin(self, number: int, spec: DatabaseSpec) -> bool:
        """Start a replica on the data that it has; whether it follows the primary with these."""
        node = self._folder.node(number)
        try:
            await self.start(number, spec)
            if await self._turn(node, self._source()) and await self._follows(node):
                return True
            reason = "it does not follow in time"
        except EngineError as error:
            reason = str(error)
        _log.warning("database_replica_not_rejoined", node=str(node.path), reason=reason)
        return False

    async def _follows(self, node: Folder) -> bool:
        """Whether a replica receives and applies within some seconds."""
        try:
            async with asyncio.timeout(_FOLLOW_SECONDS):
                while True:
                    found = await replication.following(Server(node))
                    if found is not None and found.error:
                        return False
                    if found is not None and found.receives and found.applies:
                        return True
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            return False

    async def join(self, number: int, position: str) -> bool:
        """Let a node without logs follow the primary from a position on; whether it does."""
        node = self._folder.node(number)
        await replication.follow(Server(node), self._source(), position)
        return await self._follows(node)

    async def renew(self, number: int, spec: DatabaseSpec) -> None:
        """Make a replica of what the primary has, which goes on meanwhile."""
        node = self._folder.node(number)
        self.roles.change_lost(number, lost=True)
        await Server(node).stop()
        await self.lead(spec)  # Without a replica no commit waits, which the copy would wait for.
        position = await backups.clone(self.primary, Server(self.primary), node, self.key)
        with unkept():
            await Logs(self._folder).keep(self.primary)  # The copy has no logs of what was before.
        await self.start(number, spec)
        if not await self.join(number, position):
            raise EngineError("A node of the database does not follow its primary")
        self.roles.change_lost(number, lost=False)
