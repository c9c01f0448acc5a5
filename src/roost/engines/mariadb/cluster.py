"""A database of three servers, of which one takes writes and two follow it.

The order of a failover is what keeps it whole: the former primary is dead for certain before
anything else; of what replicas have received the most is applied before one of them leads; and who
leads is written to disk before it takes a write. Whoever is killed on the way, the next one finds
either the former primary in its office, or the new one.
"""

import asyncio
import os
import secrets
from contextlib import suppress

import structlog

from roost.core.engine import EngineError
from roost.engines.databases.backups import settle, swap
from roost.engines.databases.cluster import ClusterServers
from roost.engines.databases.folder import NUMBERS
from roost.engines.databases.keeping import unkept
from roost.engines.databases.roles import Roles
from roost.engines.mariadb import backups, events, forks, replication
from roost.engines.mariadb.config import is_semi_synchronous
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.host import Host
from roost.engines.mariadb.logs import Logs, Way, save
from roost.engines.mariadb.nodes import Nodes
from roost.engines.mariadb.server import Server, owner
from roost.engines.mariadb.system_tables import load_time_zones
from roost.engines.mariadb.users import limit_writes, statements
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

_APPLY_SECONDS = 10.0
"""For so long a replica that is to lead may apply what it has received, while the former primary
could be started again: of a table without a key each changed row costs a look at all of them."""
_HOLD_SECONDS = 20.0
"""For so long nobody writes at most until a replica leads, or the primary goes on."""

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
        """Whether no replica has stopped on an error."""
        return await self._nodes.are_sound()

    async def make(self, spec: DatabaseSpec, way: Way | None) -> None:
        """Three empty nodes without servers, all alike; or one with what is at the way's end, which
        the others are to copy."""
        await self.stop()
        os.chown(self._folder.path, *owner())
        await self._host.give_port(self._folder)
        self._folder.write("replication", secrets.token_hex(16))
        for number in NUMBERS:
            node = self._folder.node(number)
            node.path.mkdir(mode=0o711, exist_ok=True)
            os.chown(node.path, *owner())
            await self._host.give_port(node)
            if way is None:
                await self._host.fill(self._folder, node, encrypted=spec.shape.encrypted)
        first, *others = NUMBERS
        if way is not None:
            node = self._folder.node(first)
            await forks.fill(self._host, node, spec, way, self._nodes.key, first)
        self._roles.write(Roles(primary=first, lost=[] if way is None else others))
        self._folder.complete()

    async def serve(self, spec: DatabaseSpec) -> bool:
        """The primary does, and if it cannot, another one in its place. False when none of these
        was ready in time, and the primary was started again in spite of what it is for."""
        for node in self._folder.nodes():
            await settle(node)
        await self.allow(spec.id, spec.allow_list)
        in_time = await Server(self.primary).answers() or await self._replace_primary(spec)
        await self._nodes.lead(spec)
        await self.set_password(spec)
        await load_time_zones(Server(self.primary))
        return in_time

    async def rebuild(self, spec: DatabaseSpec) -> None:
        """Both replicas follow; one that cannot becomes a copy of the primary."""
        for number in self._roles.replicas():
            if number in self._roles.read().lost or not await self._nodes.rejoin(number, spec):
                await self._nodes.renew(number, spec)
            await load_time_zones(Server(self._folder.node(number)))
        await self._nodes.lead(spec)
        if stopped := self._roles.read().lost:  # They followed up to what the primary lacks.
            for number in stopped:
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

    async def set_password(self, spec: DatabaseSpec) -> None:
        """Replicas get it from the primary."""
        await Server(self.primary).execute("The password could not be set", statements(spec))

    async def limit_writes(self, spec: DatabaseSpec) -> None:
        """Replicas take no writes of clients in any case."""
        await limit_writes(Server(self.primary), spec)

    async def free(self) -> None:
        """A replica that was away must have what it missed, or is copied anew."""
        logs = Logs(self._folder)
        if Server(self.primary).process() is None:
            return
        with unkept():
            await logs.keep(self.primary, purge=True)
            for node in self._nodes.running_replicas():
                await logs.purge(node)

    async def back_up(self, backup_id: int, *, replica: bool) -> None:
        node = self.primary
        if replica:
            await self.prepare_replicas()
            node = next(iter(self._nodes.running_replicas()), node)
        await save(self._folder, self.primary, node, backup_id)

    async def archive(self) -> None:
        if Server(self.primary).process() is not None:
            await Logs(self._folder).keep(self.primary)

    async def prepare_replicas(self) -> None:
        """Replicas know from now on which events the primary has enabled."""
        if Server(self.primary).process() is not None:
            for node in self._nodes.running_replicas():
                await events.copy_states(Server(self.primary), Server(node))

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        """The primary is restored; replicas are copied from it."""
        roles, node = self._roles.read(), self.primary
        await settle(node)
        await backups.unpack(node, self._folder.backup(backup_id), self._nodes.key)
        with unkept():
            await self.archive()
        await self.stop()
        self._roles.write(Roles(primary=roles.primary, lost=self._roles.replicas()))

        async def serve() -> None:
            await self._nodes.start(roles.primary, spec)
            await replication.forget_history(Server(node))
            await self.serve(spec)

        await swap(node, serve, self.stop)
        await DISK.finish(Logs(self._folder).begin_era, backup_id)
        await self.rebuild(spec)

    async def _replace_primary(self, spec: DatabaseSpec) -> bool:
        """By itself where only it has all that was acknowledged, else by a replica. False when
        there was one, but not in time, so that the primary itself was the sooner.

        A commit is acknowledged when one of two replicas has it: only both together certainly have
        all. With one of them, or without their acknowledgement, nothing but the primary does.
        """
        replicas = await self._nodes.candidates()
        certain = is_semi_synchronous(spec) and len(replicas) == len(NUMBERS) - 1
        if certain and await self._fail_over(spec, replicas, _APPLY_SECONDS):
            return True
        try:
            await self._nodes.start(self._roles.read().primary, spec)
        except EngineError:
            patience = replication.CATCH_UP_SECONDS
            if not replicas or not await self._fail_over(spec, replicas, patience):
                raise
            if not certain:
                _log.warning("database_failed_over_without_certainty", database=spec.id)
                await DISK.finish(Logs(self._folder).break_off)
            return True
        return not certain

    async def _fail_over(self, spec: DatabaseSpec, replicas: list[int], seconds: float) -> bool:
        """Whether one leads: it must have applied all that was received within the time."""
        former = self._roles.read().primary
        await self._host.firewall.close(spec.id)
        await Server(self._folder.node(former)).kill()
        received = {}
        for number in replicas:
            received[number] = await replication.halt(Server(self._folder.node(number)))
        winner = max(replicas, key=lambda number: replication.sequence(received[number]))
        server = Server(self._folder.node(winner))
        if not await replication.has_applied(server, received[winner], seconds):
            _log.warning("database_not_failed_over", database=spec.id, behind=winner)
            return False
        await DISK.finish(Logs(self._folder).break_off, received[winner])
        lost = sorted({*self._roles.read().lost, former})
        self._roles.write(Roles(primary=winner, lost=lost))
        _log.warning("database_failed_over", database=spec.id, former=former, primary=winner)
        with suppress(EngineError):  # Clients do not wait for what the log alone asks.
            if count := await events.undecided(server):
                _log.warning("database_events_left_disabled", database=spec.id, events=count)
        return True

    async def _hand_over(self, spec: DatabaseSpec, winner: int) -> bool:
        """Let a replica lead that has everything: nobody writes until it does. Whether it does.

        The former primary counts as lost until it follows: whoever is killed in between leaves one
        that is copied anew.
        """
        roles, server = self._roles.read(), Server(self.primary)
        former = roles.primary
        if not await server.answers():
            _log.warning("database_not_handed_over", database=spec.id, silent=former)
            return False
        near, node = await replication.written(server), self._folder.node(winner)
        patience = replication.CATCH_UP_SECONDS  # Clients are served meanwhile.
        if not await replication.has_applied(Server(node), near, patience):
            _log.warning("database_not_handed_over", database=spec.id, behind=winner)
            return False
        await self._host.firewall.close(spec.id)
        try:
            async with asyncio.timeout(_HOLD_SECONDS):
                position = await replication.hold(server)
                await replication.catch_up(Server(node), position)
                await events.copy_states(server, Server(node))
        except (EngineError, TimeoutError) as error:
            _log.warning("database_not_handed_over", database=spec.id, reason=str(error))
            return False
        with unkept():
            await self.archive()
        await DISK.finish(Logs(self._folder).break_off, position)
        self._roles.write(Roles(primary=winner, lost=sorted({*roles.lost, former})))
        await server.stop()
        await self._nodes.lead(spec)
        await self._nodes.start(former, spec)
        if await self._nodes.join(former, position):
            self._roles.change_lost(former, lost=False)
        return True
