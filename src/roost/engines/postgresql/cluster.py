"""A database of three servers, of which one takes writes and two follow it.

The order of a failover is what keeps it whole: the former primary is dead for certain before
anything else; who has received the most leads; and who leads is written to disk before it takes a
write. A node that was not there when that was decided is copied from the one that leads. Whoever is
killed on the way, the next one finds either the former primary in its office, or the new one.
"""

import asyncio
import secrets

import structlog

from roost.core.engine import EngineError
from roost.engines.databases.backups import settle, swap
from roost.engines.databases.cluster import ClusterServers
from roost.engines.databases.folder import NUMBERS
from roost.engines.databases.keeping import unkept
from roost.engines.databases.roles import Roles
from roost.engines.postgresql import backups, forks, replication, users
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.host import Host
from roost.engines.postgresql.logs import Logs, Way, save
from roost.engines.postgresql.nodes import Nodes
from roost.engines.postgresql.server import Server
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

_APPLY_SECONDS = 10.0
"""For so long a replica that is to lead may apply what it has received, while the former primary
could be started again."""

_log = structlog.get_logger(__name__)


class Cluster(ClusterServers[Folder]):
    """Whoever calls it holds the folder."""

    def __init__(self, host: Host, folder: Folder) -> None:
        self._host = host
        self._nodes = Nodes(host, folder)
        super().__init__(host, folder, self._nodes)

    def _server(self, node: Folder) -> Server:
        return Server(node)

    async def is_sound(self) -> bool:
        """Whether no replica has stopped to receive."""
        return await self._nodes.are_sound()

    async def make(self, spec: DatabaseSpec, way: Way | None) -> None:
        """Three empty nodes without servers, all alike; or one with what is at the way's end, which
        the others are to copy."""
        await self.stop()
        await self._host.give_port(self._folder)
        password = secrets.token_hex(16)
        self._folder.write("replication", password)
        for number in NUMBERS:
            node = self._folder.node(number)
            node.path.mkdir(mode=0o711, exist_ok=True)
            await self._host.give_port(node)
            await DISK.finish(replication.share, node, password)
            if way is None:
                await self._host.fill(node, spec)
        first, *others = NUMBERS
        if way is not None:
            await forks.fill(self._host, self._folder.node(first), spec, way)
        self._roles.write(Roles(primary=first, lost=[] if way is None else others))
        self._folder.complete()

    async def serve(self, spec: DatabaseSpec) -> bool:
        """The primary does, and if it cannot, another one in its place. False when none of these
        was ready in time, and the primary was started again in spite of what it is for."""
        for node in self._folder.nodes():
            if node.new_data.is_dir():
                await replication.end_copying(node)
            await settle(node)
        await super().allow(spec.id, spec.allow_list)
        in_time = await Server(self.primary).answers() or await self._replace_primary(spec)
        await self._nodes.lead(spec)
        await self.allow(spec.id, spec.allow_list)
        await self.set_password(spec)
        return in_time

    async def rebuild(self, spec: DatabaseSpec) -> None:
        """Both replicas follow; one that cannot becomes a copy of the primary."""
        lost = {*self._roles.read().lost}
        whole = [number for number in self._roles.replicas() if number not in lost]
        found = await asyncio.gather(*(self._nodes.rejoin(number, spec) for number in whole))
        following = {number for number, does in zip(whole, found, strict=True) if does}
        if left := [number for number in self._roles.replicas() if number not in following]:
            with unkept():
                await self.archive()  # What a former primary has handed over goes with it.
            self._roles.write(Roles(primary=self._roles.read().primary, lost=left))
        for number in left:
            await self._nodes.renew(number, spec)
        await self._nodes.lead(spec)

    async def restart(self, spec: DatabaseSpec) -> None:
        """Replicas first, one after the other; then one of them leads, and the former primary is
        the last. Where none can, the primary is down for a moment."""
        following = []
        for number in self._roles.replicas():
            await Server(self._folder.node(number)).stop()
            if number not in self._roles.read().lost and await self._nodes.rejoin(number, spec):
                following.append(number)
        former = self._roles.read().primary
        if not following or not await self._hand_over(spec, following[0]):
            await Server(self.primary).stop()
            await self._nodes.start(former, spec)
        await self.serve(spec)
        await self.rebuild(spec)

    async def allow(self, database_id: int, networks: tuple[str, ...]) -> None:
        await super().allow(database_id, networks)
        for node in self._folder.nodes():
            if node.access.exists():
                self._host.admit(node, networks)
                await Server(node).reload()

    async def set_password(self, spec: DatabaseSpec) -> None:
        """Replicas get it from the primary."""
        shut_out = await users.is_over(self.primary, spec)
        await users.set_up(Server(self.primary), spec, shut_out=shut_out)

    async def limit_writes(self, spec: DatabaseSpec) -> None:
        """Replicas take no writes of clients in any case."""
        shut_out = await users.is_over(self.primary, spec)
        await users.limit_writes(Server(self.primary), spec, shut_out=shut_out)

    async def free(self) -> None:
        with unkept():
            await self.archive()

    async def back_up(self, backup_id: int, *, replica: bool) -> None:
        node = self.primary
        for each in self._nodes.running_replicas() if replica else []:
            if await Server(each).answers():
                node = each
        await save(self._folder, self.primary, node, backup_id)

    async def archive(self) -> None:
        """Of a primary that is down, what there is since the last time is kept later on."""
        if Server(self.primary).process() is not None:
            await Logs(self._folder).keep(self.primary)

    async def prepare_replicas(self) -> None:
        """They have all that the primary has."""

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        """The primary is restored; replicas are copied from it."""
        roles, node = self._roles.read(), self.primary
        await settle(node)
        await backups.unpack(node, self._folder.backup(backup_id))
        with unkept():
            await self.archive()
        await DISK.finish(backups.put_back, node.new_data, Logs(self._folder).histories())
        await self.stop()
        self._roles.write(Roles(primary=roles.primary, lost=self._roles.replicas()))

        async def serve() -> None:
            await self._nodes.start(roles.primary, spec)
            await Server(node).led()
            await self.serve(spec)

        await swap(node, serve, self.stop)
        await DISK.finish(backups.settle, node.data)
        await DISK.finish(Logs(self._folder).begin_era, backup_id, node.data)
        await self.rebuild(spec)

    async def _replace_primary(self, spec: DatabaseSpec) -> bool:
        """By itself where only it has all that was acknowledged, else by a replica. False when
        there was one, but not in time, so that the primary itself was the sooner.

        A commit is acknowledged when one of two replicas has it: only both together certainly have
        all. With one of them, or without their acknowledgement, nothing but the primary does.
        """
        found = await self._nodes.candidates()
        whole = len(found) == len(self._roles.replicas()) and all(found.values())
        certain, replicas = replication.waits(spec) and whole, list(found)
        if certain and await self._fail_over(spec, replicas, _APPLY_SECONDS, certain=True):
            return True
        try:
            await self._nodes.start(self._roles.read().primary, spec)
        except EngineError:
            patience = replication.CATCH_UP_SECONDS
            if not replicas or not await self._fail_over(spec, replicas, patience, certain=certain):
                raise
            return True
        return not certain

    async def _fail_over(
        self, spec: DatabaseSpec, replicas: list[int], seconds: float, *, certain: bool
    ) -> bool:
        """Whether one leads: it must have applied what was received within the time. `certain`:
        together they have all that was acknowledged."""
        former = self._roles.read().primary
        await self._host.firewall.close(spec.id)
        await Server(self._folder.node(former)).kill()
        nodes = {number: self._folder.node(number) for number in replicas}
        positions = await asyncio.gather(*map(replication.halt, nodes.values()))
        received = dict(zip(replicas, positions, strict=True))
        winner = max(replicas, key=lambda number: received[number])
        heir = Server(nodes[winner])
        await users.end_sessions(heir, spec)  # They may keep it from applying.
        if not await replication.has_applied(heir, received[winner], seconds):
            _log.warning("database_not_failed_over", database=spec.id, behind=winner)
            return False
        lost = sorted({*NUMBERS} - {*replicas} | {*self._roles.read().lost, former})
        await DISK.finish(Logs(self._folder).change_timeline, goes_on=certain)
        self._roles.write(Roles(primary=winner, lost=lost))
        if not certain:
            _log.warning("database_failed_over_without_certainty", database=spec.id)
        _log.warning("database_failed_over", database=spec.id, former=former, primary=winner)
        return True

    async def _hand_over(self, spec: DatabaseSpec, winner: int) -> bool:
        """Let a replica lead that has everything: nobody writes until it does. Whether it does.

        The former primary counts as lost until it follows: whoever is killed in between leaves one
        that is copied anew.
        """
        roles, former = self._roles.read(), self.primary
        node = self._folder.node(winner)
        server, heir = Server(former), Server(node)
        if not await server.answers():
            _log.warning("database_not_handed_over", database=spec.id, silent=roles.primary)
            return False
        await server.checkpoint()  # Else it takes its time to end.
        with unkept():
            await self.archive()
        near, patience = await replication.written(server), replication.CATCH_UP_SECONDS
        if not await replication.has_applied(heir, near, patience):
            _log.warning("database_not_handed_over", database=spec.id, behind=winner)
            return False
        await self._host.firewall.close(spec.id)
        await server.stop()
        try:
            await users.end_sessions(heir, spec)
            has_all = await replication.halt(node) > await replication.last_record(former)
        except EngineError as error:
            _log.warning("database_not_handed_over", database=spec.id, reason=str(error))
            return False
        if not has_all:
            _log.warning("database_not_handed_over", database=spec.id, lacks=winner)
            return False
        await DISK.finish(Logs(self._folder).change_timeline, goes_on=True)
        lost = sorted({*roles.lost, roles.primary})
        self._roles.write(Roles(primary=winner, lost=lost))
        await self._nodes.lead(spec)
        if await self._nodes.rejoin(roles.primary, spec):
            self._roles.change_lost(roles.primary, lost=False)
        return True
