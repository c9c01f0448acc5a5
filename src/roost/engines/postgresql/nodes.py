"""The nodes of a cluster: who of them leads, and how replicas come to follow it."""

import asyncio
from contextlib import suppress

import structlog
from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases.cluster import Members
from roost.engines.databases.host import port_of
from roost.engines.postgresql import replication
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.host import Host
from roost.engines.postgresql.replication import Source
from roost.engines.postgresql.server import Server
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

_FOLLOW_SECONDS, _POLL_SECONDS, _SAY_SECONDS = 30.0, 0.1, 4.0

_log = structlog.get_logger(__name__)


class Nodes(Members[Folder]):
    """Whoever calls it holds the folder."""

    def __init__(self, host: Host, folder: Folder) -> None:
        super().__init__(host, folder)
        self._host = host

    @property
    def _source(self) -> Source:
        return Source(self._host.addresses.listen, port_of(self.primary))

    @property
    def _password(self) -> SecretStr:
        return SecretStr(self._folder.read("replication"))

    def running_replicas(self) -> list[Folder]:
        return [node for node in self.roles.following() if Server(node).process() is not None]

    async def are_sound(self) -> bool:
        """Whether all replicas that run receive what the primary writes, as far as they say in a
        few seconds: of those that hang others tell (`faults`)."""
        found = await asyncio.gather(*map(self._is_sound, self.running_replicas()))
        return all(found)

    async def _is_sound(self, node: Folder) -> bool:
        sound = True
        with suppress(EngineError, TimeoutError):
            async with asyncio.timeout(_SAY_SECONDS):
                while True:
                    if sound := await replication.streams(Server(node), self._source):
                        return True
                    await asyncio.sleep(_POLL_SECONDS)
        return sound

    async def candidates(self) -> dict[int, bool]:
        """Replicas that answer, and so may lead; and whether each knows what it has."""
        numbers = [n for n in self.roles.replicas() if n not in self.roles.read().lost]
        found = await asyncio.gather(*map(self._knows, numbers))
        told = zip(numbers, found, strict=True)
        return {number: knows for number, knows in told if knows is not None}

    async def _knows(self, number: int) -> bool | None:
        """None of one that does not answer as a replica in a few seconds."""
        server = Server(self._folder.node(number))
        if server.process() is not None:
            with suppress(EngineError, TimeoutError):
                async with asyncio.timeout(_SAY_SECONDS):
                    return await replication.knows(server)
        return None

    async def start(self, number: int, spec: DatabaseSpec) -> None:
        """Start a node with the limits of its plan, unless it answers; one that hangs is killed.
        All but the primary follow."""
        node, source = self._folder.node(number), self._source
        server = Server(node)
        if await server.answers():
            return
        await server.kill()
        await self._host.configure(node, spec, replication.SETTINGS)
        self._host.limits.put(node, spec)
        if number == self.roles.read().primary:
            await replication.acknowledge(node, self.roles.following())
        else:
            await replication.follow(node, source)
            await DISK.finish(replication.mark, node.data, follows=True)
        await server.start()

    async def lead(self, spec: DatabaseSpec) -> None:
        """Let the node that the roles name take writes, and nobody else; then clients reach it."""
        following, source = self.roles.following(), self._source
        await replication.acknowledge(self.primary, following)
        await asyncio.gather(*(replication.follow(node, source) for node in following))
        server = Server(self.primary)
        await replication.lead(server)
        await self.open(spec.id, following)  # Clients wait for nothing else.
        await replication.admit(server, self._password)
        answer = await asyncio.gather(*(Server(node).answers() for node in following))
        if not all(answer):
            served = [node for node, does in zip(following, answer, strict=True) if does]
            await self.open(spec.id, served)

    async def rejoin(self, number: int, spec: DatabaseSpec) -> bool:
        """Start a replica on the data that it has; whether it follows the primary with these."""
        node = self._folder.node(number)
        try:
            await self.start(number, spec)
            await replication.follow(node, self._source)
            if await self._follows(node):
                return True
            reason = "it does not follow in time"
        except EngineError as error:
            reason = str(error)
        _log.warning("database_replica_not_rejoined", node=str(node.path), reason=reason)
        return False

    async def _follows(self, node: Folder) -> bool:
        """Whether a replica receives within some seconds what the primary writes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FOLLOW_SECONDS):
                while True:
                    if await replication.streams(Server(node), self._source):
                        return True
                    await asyncio.sleep(_POLL_SECONDS)
        return False

    async def renew(self, number: int, spec: DatabaseSpec) -> None:
        """Make a lost replica of what the primary has, which goes on meanwhile."""
        node = self._folder.node(number)
        await Server(node).kill()
        await self.lead(spec)  # No commit waits for this one.
        await replication.clone(node, self.primary.major, self._source)
        await self.start(number, spec)
        if not await self._follows(node):
            raise EngineError("A node of the database does not follow its primary")
        self.roles.change_lost(number, lost=False)
