"""Jobs on firewalls for the harness, over a simulated engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import orjson

from roost.core.events import log
from roost.core.planes import Engines
from roost.engines.simulated.firewalls import SimulatedFirewalls
from roost.ids import new_uuid
from roost.jobs import Environment
from roost.jobs.kinds import JobArgs
from roost.resources.firewalls import device_queries, queries, watch_jobs
from roost.resources.firewalls.apply_service import put_in_force
from roost.resources.firewalls.engine import FIREWALL_PLANE, FirewallState
from roost.resources.firewalls.group import GROUP as FIREWALLS
from roost.resources.firewalls.jobs import APPLY, APPLY_ON_HOST, HostArgs, start
from roost.resources.firewalls.queries import NewFirewall
from roost.resources.firewalls.records import FirewallStatus
from tests.jobs.harness import Scenario
from tests.support.drift import differences
from tests.support.firewalls import rule, rules
from tests.support.stage import REGION, Stage


@dataclass(frozen=True)
class FirewallCase:
    """One job on one firewall; a Case of the harness."""

    stage: Stage
    firewall_id: int
    job_id: int
    filters: bool
    """Whether the engine has it when the job is done."""
    told: bool = True

    async def check_done(self) -> None:
        assert (await self._state() is not None) is self.filters
        await self._check_event("finished")
        assert await self._found() == []

    async def check_failed(self) -> None:
        """Its rows say what is wanted, and the watch would bring it to the engine."""
        await self._check_event("failed")
        await self._found(repair=True)
        assert await self._found() == []
        assert (await self._state() is not None) is self.filters

    async def _state(self) -> FirewallState | None:
        held = await firewalls(self.stage).list()
        return next((state for state in held if state.id == self.firewall_id), None)

    async def _found(self, *, repair: bool = False) -> list[str]:
        lines = await differences(self.stage.roost, FIREWALLS, repair=repair)
        return [line for line in lines if f"firewall {self.firewall_id} " in line]

    async def _check_event(self, status: str) -> None:
        found = await self.stage.roost.store.fetchval(
            "select e.status from job j join event e on e.id = j.event_id where j.id = $1",
            self.job_id,
        )
        assert found == (status if self.told else None)


Prepare = Callable[[Stage, int, int], Awaitable[None]]
"""Brings a firewall, and an instance, to where the job begins."""


def firewalls(stage: Stage) -> SimulatedFirewalls:
    engine = stage.roost.services.get(Engines).of(FIREWALL_PLANE, REGION)
    assert isinstance(engine, SimulatedFirewalls)
    return engine


async def placed(stage: Stage) -> tuple[int, int]:
    """A new firewall, and an instance that is not behind it yet."""
    store = stage.roost.store
    new = NewFirewall(
        account_id=await store.fetchval("select min(id) from account"),
        label=f"f-{new_uuid()[:18]}",
        rules=orjson.dumps(rules(rule())).decode(),
        tags=[],
        now=stage.roost.clock.seconds(),
    )
    firewall_id = await queries.insert(store, new)
    assert firewall_id is not None
    compute_id = await stage.instance("running", "running")
    ipv6 = f"2001:db8::{compute_id >> 16:x}:{compute_id & 0xFFFF:x}/128"
    await stage.change(compute_id, "ipv6 = $2", ipv6)
    await stage.readdress(compute_id)
    return firewall_id, compute_id


async def behind(stage: Stage, firewall_id: int, compute_id: int) -> None:
    now = stage.roost.clock.seconds()
    await device_queries.insert(stage.roost.store, firewall_id, [compute_id], now)


async def in_force(stage: Stage, firewall_id: int, compute_id: int) -> None:
    await behind(stage, firewall_id, compute_id)
    await put_in_force(stage.roost.store, stage.roost.services, firewall_id)


async def then(stage: Stage, firewall_id: int, compute_id: int, status: FirewallStatus) -> None:
    """In force until now."""
    await in_force(stage, firewall_id, compute_id)
    now = stage.roost.clock.seconds()
    await queries.set_status(stage.roost.store, firewall_id, status, now)


async def then_alone(stage: Stage, firewall_id: int, compute_id: int) -> None:
    """Its only device was taken away."""
    await in_force(stage, firewall_id, compute_id)
    held = await device_queries.of_instance(stage.roost.store, compute_id)
    await device_queries.delete(stage.roost.store, [device.id for device in held])


async def begin(
    environment: Environment, prepare: Prepare, filters: bool, action: str
) -> FirewallCase:
    stage = environment.services.get(Stage)
    firewall_id, compute_id = await placed(stage)
    await prepare(stage, firewall_id, compute_id)
    async with environment.store.transaction() as db:
        account_id = await db.fetchval("select min(id) from account")
        by = log.Starter(environment.queue, db, account_id, "somebody")
        await start(by, action, firewall_id, "label")
        job_id: int = await db.fetchval("select max(id) from job where kind = $1", APPLY.name)
    return FirewallCase(stage, firewall_id, job_id, filters)


async def begin_watch(environment: Environment) -> FirewallCase:
    stage = environment.services.get(Stage)
    firewall_id, compute_id = await placed(stage)
    await in_force(stage, firewall_id, compute_id)
    await firewalls(stage).lose(firewall_id)
    async with environment.store.transaction() as db:
        await environment.queue.enqueue(db, watch_jobs.WATCH, JobArgs())
        sql = "select max(id) from job where kind = $1"
        job_id: int = await db.fetchval(sql, watch_jobs.WATCH.name)
    return FirewallCase(stage, firewall_id, job_id, filters=True, told=False)


async def begin_on_host(environment: Environment) -> FirewallCase:
    """What the workers of another host do."""
    stage = environment.services.get(Stage)
    firewall_id, compute_id = await placed(stage)
    await behind(stage, firewall_id, compute_id)
    args = HostArgs(firewall_id=firewall_id, host=environment.settings.host)
    job = await environment.queue.enqueue(environment.store, APPLY_ON_HOST, args, host=args.host)
    return FirewallCase(stage, firewall_id, job.id, filters=True, told=False)


def _scenario(
    title: str, prepare: Prepare, *, filters: bool, action: str = "firewall_update"
) -> Scenario:
    begins = partial(begin, prepare=prepare, filters=filters, action=action)
    return Scenario(APPLY, begins, title)


SCENARIOS = (
    _scenario("a firewall gets a device", behind, filters=True),
    _scenario("a firewall loses its device", then_alone, filters=False),
    _scenario("a firewall is disabled", partial(then, status="disabled"), filters=False),
    _scenario(
        "a firewall is deleted",
        partial(then, status="deleted"),
        filters=False,
        action="firewall_delete",
    ),
    Scenario(APPLY_ON_HOST, begin_on_host, "a firewall on another host"),
    Scenario(watch_jobs.WATCH, begin_watch, "the watch of firewalls"),
)
