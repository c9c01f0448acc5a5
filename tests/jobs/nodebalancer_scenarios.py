"""Jobs on NodeBalancers for the harness, over a simulated engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from roost.core.addresses.service import allocate_balanced
from roost.core.events import log
from roost.core.planes import Engines
from roost.engines.simulated.nodebalancers import SimulatedBalancers
from roost.ids import new_uuid
from roost.jobs import Environment
from roost.jobs.kinds import JobArgs, JobKind
from roost.resources.nodebalancers import host_queries, jobs, move_jobs, queries, watch_jobs
from roost.resources.nodebalancers.apply_service import put_in_force
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.resources.nodebalancers.entity import NODEBALANCER
from roost.resources.nodebalancers.group import GROUP
from roost.resources.nodebalancers.queries import NewBalancer
from roost.settings import MAIN_HOST
from tests.jobs.harness import Scenario
from tests.support.drift import differences
from tests.support.stage import REGION, Stage


@dataclass(frozen=True)
class BalancerCase:
    """One job on one NodeBalancer; a Case of the harness."""

    stage: Stage
    nodebalancer_id: int
    job_id: int
    serves: bool
    """Whether the engine has it when the job is done."""
    told: bool = True
    fails_to: bool | None = None
    """Whether the engine has it when the job has failed, where that is something else."""

    async def check_done(self) -> None:
        assert await self._serves() is self.serves
        await self._check_event("finished")
        assert await self._found() == []

    async def check_failed(self) -> None:
        """Its rows say what is wanted, and the watch would bring it to the engine."""
        await self._check_event("failed")
        await self._found(repair=True)
        assert await self._found() == []
        assert await self._serves() is (self.serves if self.fails_to is None else self.fails_to)

    async def _serves(self) -> bool:
        return await engine(self.stage).inspect(self.nodebalancer_id) is not None

    async def _found(self, *, repair: bool = False) -> list[str]:
        lines = await differences(self.stage.roost, GROUP, repair=repair)
        return [line for line in lines if f"NodeBalancer {self.nodebalancer_id} " in line]

    async def _check_event(self, status: str) -> None:
        found = await self.stage.roost.store.fetchval(
            "select e.status from job j join event e on e.id = j.event_id where j.id = $1",
            self.job_id,
        )
        assert found == (status if self.told else None)


Prepare = Callable[[Stage, int], Awaitable[None]]
"""Brings a NodeBalancer to where the job begins."""


def engine(stage: Stage) -> SimulatedBalancers:
    found = stage.roost.services.get(Engines).of(BALANCER_PLANE, REGION)
    assert isinstance(found, SimulatedBalancers)
    return found


async def placed(stage: Stage) -> int:
    """A new one that no engine has."""
    store = stage.roost.store
    account_id: int = await store.fetchval("select min(id) from account")
    nodebalancer_id = await queries.next_id(store)
    held = await allocate_balanced(store, REGION, account_id, nodebalancer_id)
    new = NewBalancer(
        id=nodebalancer_id,
        account_id=account_id,
        label=f"b-{new_uuid()[:18]}",
        region=REGION,
        engine="simulated",
        host=MAIN_HOST,
        address=str(held.interface.ip),
        hostname="host.example",
        client_conn_throttle=0,
        tags=[],
        now=stage.roost.clock.seconds(),
    )
    assert await queries.insert(store, new)
    return nodebalancer_id


async def nothing(stage: Stage, nodebalancer_id: int) -> None:
    """As it is."""


async def deleted(stage: Stage, nodebalancer_id: int) -> None:
    """It served until now."""
    await put_in_force(stage.roost.store, stage.roost.services, nodebalancer_id)
    now = stage.roost.clock.seconds()
    await queries.set_deleting(stage.roost.store, nodebalancer_id, now)


async def resting(stage: Stage, nodebalancer_id: int) -> None:
    """Its account is suspended now."""
    await put_in_force(stage.roost.store, stage.roost.services, nodebalancer_id)
    await queries.set_resting(stage.roost.store, nodebalancer_id, True)


async def coming(stage: Stage, nodebalancer_id: int) -> None:
    """From a host that nobody hears of."""
    store = stage.roost.store
    await store.execute("update nodebalancer set host = 'attic' where id = $1", nodebalancer_id)
    await host_queries.begin_move(store, nodebalancer_id, MAIN_HOST)


async def begin(
    environment: Environment,
    kind: JobKind[jobs.BalancerArgs],
    prepare: Prepare,
    serves: bool,
) -> BalancerCase:
    stage = environment.services.get(Stage)
    nodebalancer_id = await placed(stage)
    await prepare(stage, nodebalancer_id)
    async with environment.store.transaction() as db:
        account_id = await db.fetchval("select min(id) from account")
        by = log.Starter(environment.queue, db, account_id, "somebody")
        args = jobs.BalancerArgs(nodebalancer_id=nodebalancer_id)
        await log.start(by, kind, args, NODEBALANCER.entity(nodebalancer_id, "label"))
        job_id: int = await db.fetchval("select max(id) from job where kind = $1", kind.name)
    fails_to = False if kind is move_jobs.MOVE else None  # It is the former host's again.
    return BalancerCase(stage, nodebalancer_id, job_id, serves, fails_to=fails_to)


async def begin_clear(environment: Environment) -> BalancerCase:
    """It has gone to another host."""
    stage = environment.services.get(Stage)
    nodebalancer_id = await placed(stage)
    await put_in_force(stage.roost.store, stage.roost.services, nodebalancer_id)
    await host_queries.begin_move(stage.roost.store, nodebalancer_id, "attic")
    args = move_jobs.LeftArgs(nodebalancer_id=nodebalancer_id, region=REGION, host=MAIN_HOST)
    async with environment.store.transaction() as db:
        job = await environment.queue.enqueue(db, move_jobs.CLEAR, args, host=MAIN_HOST)
    return BalancerCase(stage, nodebalancer_id, job.id, serves=False, told=False)


async def begin_watch(environment: Environment) -> BalancerCase:
    stage = environment.services.get(Stage)
    nodebalancer_id = await placed(stage)
    await put_in_force(stage.roost.store, stage.roost.services, nodebalancer_id)
    await engine(stage).lose(nodebalancer_id)
    return await _enqueued(environment, watch_jobs.WATCH, nodebalancer_id)


async def begin_read(environment: Environment) -> BalancerCase:
    stage = environment.services.get(Stage)
    nodebalancer_id = await placed(stage)
    await put_in_force(stage.roost.store, stage.roost.services, nodebalancer_id)
    await engine(stage).use(nodebalancer_id, 1, 2, 3)
    return await _enqueued(environment, watch_jobs.READ, nodebalancer_id)


async def _enqueued(
    environment: Environment, kind: JobKind[JobArgs], nodebalancer_id: int
) -> BalancerCase:
    stage = environment.services.get(Stage)
    async with environment.store.transaction() as db:
        await environment.queue.enqueue(db, kind, JobArgs())
        sql = "select max(id) from job where kind = $1"
        job_id: int = await db.fetchval(sql, kind.name)
    return BalancerCase(stage, nodebalancer_id, job_id, serves=True, told=False)


def _scenario(
    title: str, kind: JobKind[jobs.BalancerArgs], prepare: Prepare, *, serves: bool
) -> Scenario:
    return Scenario(kind, partial(begin, kind=kind, prepare=prepare, serves=serves), title)


SCENARIOS = (
    _scenario("a NodeBalancer is new", jobs.APPLY, nothing, serves=True),
    _scenario("a NodeBalancer rests", jobs.APPLY, resting, serves=False),
    _scenario("a NodeBalancer is deleted", jobs.DELETE, deleted, serves=False),
    _scenario("a NodeBalancer comes", move_jobs.MOVE, coming, serves=True),
    Scenario(move_jobs.CLEAR, begin_clear, "a NodeBalancer has gone"),
    Scenario(watch_jobs.WATCH, begin_watch, "the watch of NodeBalancers"),
    Scenario(watch_jobs.READ, begin_read, "what NodeBalancers moved is read"),
)
