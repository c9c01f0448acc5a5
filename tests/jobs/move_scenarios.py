"""Jobs that bring instances to another host, for the harness: that host is a second engine."""

import asyncio
import socket
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from roost.app.roost import Roost, open_roost
from roost.clock import Clock
from roost.core import instance_queries
from roost.core.engine import EngineError
from roost.core.events import log
from roost.core.hosts.links import Content, Links, Parcel
from roost.core.hosts.missing_jobs import MISSING, STEP, MissingArgs
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.volumes import SimulatedVolumes
from roost.jobs import Environment, Worker
from roost.resources.compute import queries
from roost.resources.compute.engine import INSTANCE_PLANE, Power
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.leftover_jobs import CLEAR, ClearArgs, left_on
from roost.resources.compute.lifecycle.live_jobs import MOVE_LIVE
from roost.resources.compute.lifecycle.move_jobs import MOVE, MoveArgs
from roost.resources.volumes import jobs as volumes
from roost.resources.volumes.steps import LeftArgs
from roost.settings import MAIN_HOST
from tests.jobs.harness import Scenario, work_until
from tests.support.stage import REGION, Stage
from tests.support.volume_stage import VolumeStage

OTHER = "b"

Look = Callable[[], Awaitable[None]]


class There:
    """The other host, which takes what it is sent."""

    def __init__(self, links: Links) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.engine = SimulatedInstances(Path(self._folder.name), 0, Clock())
        self.volumes = SimulatedVolumes(Path(self._folder.name), 0)
        listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{listening.getsockname()[1]}"
        self._task = asyncio.create_task(links.serve(listening, self._take))

    async def _take(self, parcel: Parcel, content: Content) -> None:
        if parcel.plane == "volumes":
            await self.volumes.unpack(parcel.id, content)
        else:
            await self.engine.unpack(parcel.id, parcel.backups, content)

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self.engine.close()
        await self.volumes.close()
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
        assert (row.host, row.target_host) == (OTHER, None)
        guest = await self.there.engine.inspect(self.compute_id)
        assert guest is not None
        assert (guest.power, len(guest.disks)) == ("offline", 2)
        assert await self._told("compute_clear") == {MAIN_HOST}
        boots = await self._told("compute_boot")
        assert boots == ({OTHER} if self.power == "running" else set())
        await self._close()

    async def check_failed(self) -> None:
        row = await self.stage.row(self.compute_id)
        assert (row.host, row.target_host, row.status) == (MAIN_HOST, None, self.power)
        guest = await self.stage.engine().inspect(self.compute_id)
        assert guest is not None
        assert (guest.power, len(guest.disks)) == (self.power, 2)
        assert await self._told("compute_clear") <= {OTHER}
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
    await know(environment, OTHER, there.address)
    compute_id = await stage.instance(power, power)
    async with store.transaction() as db:
        facts = await instance_queries.lock_any(db, compute_id)
        assert facts is not None
        await queries.set_target_host(db, compute_id, OTHER)
        args = MoveArgs(
            compute_id=compute_id, booted=power == "running", source=MAIN_HOST, host=OTHER
        )
        by = log.Starter(environment.queue, db, facts.account_id)
        await log.start(by, MOVE, args, COMPUTE.of(facts))
        job_id: int = await db.fetchval("select max(id) from job where kind = $1", MOVE.name)
    return MoveCase(stage, there, compute_id, job_id, power)


async def know(environment: Environment, host: str, address: str | None) -> None:
    await environment.store.execute(
        """
        insert into host (name, address) values ($1, $2)
        on conflict (name) do update set address = excluded.address
        """,
        host,
        address,
    )


@dataclass(frozen=True)
class OtherHost:
    """Another host with engines and a worker of its own."""

    roost: Roost
    _closing: AsyncExitStack

    @classmethod
    async def open(cls, environment: Environment) -> "OtherHost":
        main = environment.services.get(Stage).roost
        async with AsyncExitStack() as stack:
            state = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            changed = {"host": OTHER, "state": state, "key_file": main.settings.sealing_key}
            settings = main.settings.model_copy(update=changed)
            roost = await stack.enter_async_context(open_roost(settings))
            worker = Worker(
                replace(
                    environment,
                    services=roost.services,
                    settings=replace(environment.settings, host=OTHER),
                )
            )
            task = asyncio.create_task(worker.run())
            stack.push_async_callback(asyncio.wait, [task])
            stack.callback(worker.stop)
            return cls(roost, stack.pop_all())
        raise AssertionError

    @property
    def engine(self) -> SimulatedInstances:
        engine = self.roost.services.get(Engines).of(INSTANCE_PLANE, REGION)
        assert isinstance(engine, SimulatedInstances)
        return engine

    async def close(self) -> None:
        await self._closing.aclose()


@dataclass(frozen=True)
class LiveCase:
    """A guest that goes while it runs: there is one of it, where the rows say that it is."""

    environment: Environment
    stage: Stage
    there: OtherHost
    compute_id: int
    job_id: int
    run: str

    async def check_done(self) -> None:
        assert (await self.stage.row(self.compute_id)).host == OTHER
        await self.check_failed()

    async def check_failed(self) -> None:
        row = await self.stage.row(self.compute_id)
        assert (row.status, row.target_host) == ("running", None)
        here, there = self.stage.engine(), self.there.engine
        engine, other, left = (here, there, OTHER)
        if row.host == OTHER:
            engine, other, left = there, here, MAIN_HOST
        assert (await engine.counters())[self.compute_id].run == self.run
        await work_until(self.environment, partial(self._is_clear, left))
        assert await other.inspect(self.compute_id) is None
        with pytest.raises(EngineError, match="not arrived"):
            await other.live.enter(await self.stage.spec(self.compute_id))
        await engine.stop(self.compute_id, 0)
        await engine.delete(self.compute_id)
        await self.there.close()
        await self.environment.store.execute(
            "delete from compute_instance where id = $1", self.compute_id
        )

    async def _is_clear(self, host: str) -> bool:
        resource = left_on(self.compute_id, host)
        return not await self.environment.queue.busy(self.environment.store, resource)


async def begin_live(environment: Environment) -> LiveCase:
    stage, store = environment.services.get(Stage), environment.store
    there = await OtherHost.open(environment)
    for name in (MAIN_HOST, OTHER):
        await know(environment, name, "127.0.0.1:9")
    compute_id = await stage.instance("running", "running")
    async with store.transaction() as db:
        facts = await instance_queries.lock_any(db, compute_id)
        assert facts is not None
        await queries.set_target_host(db, compute_id, OTHER)
        args = MoveArgs(compute_id=compute_id, booted=True, source=MAIN_HOST, host=OTHER)
        by = log.Starter(environment.queue, db, facts.account_id)
        await log.start(by, MOVE_LIVE, args, COMPUTE.of(facts))
        job_id: int = await db.fetchval("select max(id) from job where kind = $1", MOVE_LIVE.name)
    run = (await stage.engine().counters())[compute_id].run
    return LiveCase(environment, stage, there, compute_id, job_id, run)


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
    await know(environment, OTHER, None)
    compute_id = await stage.instance("offline", "offline")
    await queries.set_host(store, compute_id, OTHER)
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
    await know(environment, OTHER, None)
    volume_id = await stage.volume()
    await store.execute("update volume set host = $2 where id = $1", volume_id, OTHER)
    args = LeftArgs(volume_id=volume_id, region=REGION, host=MAIN_HOST, left="left:compute:1@main")
    job = await environment.queue.enqueue(store, volumes.CLEAR, args, host=MAIN_HOST)

    async def done() -> None:
        assert await stage.engine().inspect(volume_id) is None

    async def close() -> None:
        await stage.engine().delete(volume_id)
        await store.execute("delete from volume where id = $1", volume_id)

    return ClearCase(job.id, done, close)


async def begin_missing(environment: Environment) -> ClearCase:
    """This host has all but one disk of what another one had."""
    stage, store = environment.services.get(Stage), environment.store
    await know(environment, OTHER, None)
    compute_id = await stage.instance("offline", "offline")
    await queries.set_host(store, compute_id, OTHER)
    disks = "select id from compute_disk where compute_id = $1 order by id"
    lost = await store.fetchval(disks, compute_id)
    await stage.engine().disks.delete(compute_id, lost)
    job = await environment.queue.enqueue(store, MISSING, MissingArgs(host=OTHER), host=MAIN_HOST)

    async def done() -> None:
        found = await environment.queue.find(store, job.id)
        assert found is not None
        missing = found.results[STEP]
        assert missing == {"missing": [f"disk {lost} of instance {compute_id}"]}

    async def close() -> None:
        await stage.engine().delete(compute_id)
        await store.execute("delete from compute_instance where id = $1", compute_id)

    return ClearCase(job.id, done, close)


SCENARIOS = (
    Scenario(MISSING, begin_missing, "what is not there of a host that is dead"),
    Scenario(MOVE, partial(begin_move, power="running"), "move what runs to another host"),
    Scenario(MOVE, partial(begin_move, power="offline"), "move what is off to another host"),
    Scenario(MOVE_LIVE, begin_live, "move what goes on running to another host"),
    Scenario(CLEAR, begin_clear, "what is left of an instance on its former host"),
    Scenario(volumes.CLEAR, begin_clear_volume, "what is left of a volume on its former host"),
)
