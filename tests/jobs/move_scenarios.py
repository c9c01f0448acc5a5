"""Jobs that bring instances to another host, for the harness: that host is a second engine."""

import asyncio
import socket
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from roost.clock import Clock
from roost.core.events import log
from roost.core.hosts.links import Content, Links, Parcel
from roost.engines.simulated.instances import SimulatedInstances
from roost.jobs import Environment
from roost.resources.compute import queries
from roost.resources.compute.engine import Power
from roost.resources.compute.lifecycle.move_jobs import CLEAR, MOVE, ClearArgs, MoveArgs
from roost.resources.compute.queries import COMPUTE
from roost.resources.volumes import jobs as volumes
from roost.resources.volumes.jobs import LeftArgs
from roost.settings import MAIN_HOST
from tests.jobs.harness import Scenario
from tests.support.stage import REGION, Stage
from tests.support.volume_stage import VolumeStage

_OTHER = "b"

Look = Callable[[], Awaitable[None]]


class There:
    """The other host, which takes what it is sent."""

    def __init__(self, links: Links) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.engine = SimulatedInstances(Path(self._folder.name), 0, Clock())
        listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{listening.getsockname()[1]}"
        self._task = asyncio.create_task(links.serve(listening, self._take))

    async def _take(self, parcel: Parcel, content: Content) -> None:
        await self.engine.unpack(parcel.id, parcel.backups, content)

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self.engine.close()
        self._folder.cleanup()


@dataclass(frozen=True)
class MoveCase:
    """One move; a Case of the harness."""

    stage: Stage
    there: There
    compute_id: int
    job_id: int
    power: Power

    async def check_done(self) -> None:
        """It is there alone: the former host is told to drop what it has."""
        row = await self.stage.row(self.compute_id)
        assert (row.host, row.target_host) == (_OTHER, None)
        guest = await self.there.engine.inspect(self.compute_id)
        assert guest is not None
        assert (guest.power, len(guest.disks)) == ("offline", 2)
        assert await self._told("compute_clear") == {MAIN_HOST}
        boots = await self._told("compute_boot")
        assert boots == ({_OTHER} if self.power == "running" else set())
        await self._close()

    async def check_failed(self) -> None:
        row = await self.stage.row(self.compute_id)
        assert (row.host, row.target_host, row.status) == (MAIN_HOST, None, self.power)
        guest = await self.stage.engine().inspect(self.compute_id)
        assert guest is not None
        assert (guest.power, len(guest.disks)) == (self.power, 2)
        assert await self._told("compute_clear") <= {_OTHER}
        await self._close()

    async def _told(self, kind: str) -> set[str]:
        rows = await self.stage.roost.store.fetch(
            "select host from job where kind = $1 and resource like '%compute:' || $2 || '%'",
            kind,
            str(self.compute_id),
        )
        return {row["host"] for row in rows}

    async def _close(self) -> None:
        await self.there.close()
        await self.stage.engine().stop(self.compute_id, 0)
        await self.stage.engine().delete(self.compute_id)
        await self.stage.roost.store.execute(
            "delete from compute_instance where id = $1", self.compute_id
        )


async def begin_move(environment: Environment, power: Power) -> MoveCase:
    stage, store = environment.services.get(Stage), environment.store
    there = There(environment.services.get(Links))
    await _know_other(environment, there.address)
    compute_id = await stage.instance(power, power)
    async with store.transaction() as db:
        facts = await queries.lock_any(db, compute_id)
        assert facts is not None
        await queries.set_target_host(db, compute_id, _OTHER)
        args = MoveArgs(
            compute_id=compute_id, booted=power == "running", source=MAIN_HOST, host=_OTHER
        )
        by = log.Starter(environment.queue, db, facts.account_id)
        await log.start(by, MOVE, args, COMPUTE.of(facts))
        job_id: int = await db.fetchval("select max(id) from job where kind = $1", MOVE.name)
    return MoveCase(stage, there, compute_id, job_id, power)


async def _know_other(environment: Environment, address: str | None) -> None:
    await environment.store.execute(
        """
        insert into host (name, address) values ($1, $2)
        on conflict (name) do update set address = excluded.address
        """,
        _OTHER,
        address,
    )


@dataclass(frozen=True)
class ClearCase:
    """What is left on this host of what is on another one."""

    job_id: int
    done: Look
    close: Look

    async def check_done(self) -> None:
        await self.done()
        await self.close()

    async def check_failed(self) -> None:
        """`roost fsck` tells of what is left."""
        await self.close()


async def begin_clear(environment: Environment) -> ClearCase:
    stage, store = environment.services.get(Stage), environment.store
    await _know_other(environment, None)
    compute_id = await stage.instance("offline", "offline")
    await queries.set_host(store, compute_id, _OTHER)
    args = ClearArgs(compute_id=compute_id, region=REGION, host=MAIN_HOST, backups=())
    job = await environment.queue.enqueue(store, CLEAR, args, host=MAIN_HOST)

    async def done() -> None:
        assert await stage.engine().inspect(compute_id) is None

    async def close() -> None:
        await stage.engine().delete(compute_id)
        await store.execute("delete from compute_instance where id = $1", compute_id)

    return ClearCase(job.id, done, close)


async def begin_clear_volume(environment: Environment) -> ClearCase:
    stage, store = VolumeStage(environment.services.get(Stage)), environment.store
    await _know_other(environment, None)
    volume_id = await stage.volume()
    await store.execute("update volume set host = $2 where id = $1", volume_id, _OTHER)
    args = LeftArgs(volume_id=volume_id, region=REGION, host=MAIN_HOST)
    job = await environment.queue.enqueue(store, volumes.CLEAR, args, host=MAIN_HOST)

    async def done() -> None:
        assert await stage.engine().inspect(volume_id) is None

    async def close() -> None:
        await stage.engine().delete(volume_id)
        await store.execute("delete from volume where id = $1", volume_id)

    return ClearCase(job.id, done, close)


SCENARIOS = (
    Scenario(MOVE, partial(begin_move, power="running"), "move what runs to another host"),
    Scenario(MOVE, partial(begin_move, power="offline"), "move what is off to another host"),
    Scenario(CLEAR, begin_clear, "what is left of an instance on its former host"),
    Scenario(volumes.CLEAR, begin_clear_volume, "what is left of a volume on its former host"),
)
