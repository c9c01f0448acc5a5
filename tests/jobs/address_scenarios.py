"""Jobs on addresses of instances for the harness, over a simulated engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Address

from roost.app.fsck import check_all
from roost.core.addresses import share_queries
from roost.core.addresses.queries import held_by, release_one
from roost.core.addresses.service import allocate
from roost.core.events import log
from roost.jobs import Environment
from roost.jobs.kinds import JobArgs
from roost.resources.compute import address_queries, filter_watch_jobs
from roost.resources.compute.locks import resource_of
from roost.resources.networking.jobs import APPLY, start
from tests.jobs.harness import Scenario
from tests.support.stage import REGION, Stage


def _ignore(_line: str) -> None:
    """What is found does not matter."""


@dataclass(frozen=True)
class AddressCase:
    """One job on the addresses of one instance; a Case of the harness."""

    stage: Stage
    compute_id: int
    job_id: int
    told: bool = True

    async def check_done(self) -> None:
        await self._check_event("finished")
        await self._check_guest()

    async def check_failed(self) -> None:
        """Its rows say what is wanted, and fsck brings it to the engine."""
        await self._check_event("failed")
        await check_all(self.stage.roost, True, _ignore)
        await self._check_guest()

    async def _check_guest(self) -> None:
        """The guest has what the instance has, and nothing is held back."""
        store = self.stage.roost.store
        lines: list[str] = []
        await check_all(self.stage.roost, False, lines.append)
        assert [line for line in lines if f"instance {self.compute_id}" in line] == []
        running = (await self.stage.engine().addresses.list())[self.compute_id]
        assert running is not None
        held = {IPv4Address(row.address) for row in await held_by(store, self.compute_id)}
        assert running.ipv4 == held
        shared = (await share_queries.shared_with(store, [self.compute_id])).get(
            self.compute_id, []
        )
        assert running.shared == set(map(IPv4Address, shared))
        assert await share_queries.leaving(store, [self.compute_id]) == {}

    async def _check_event(self, status: str) -> None:
        found = await self.stage.roost.store.fetchval(
            "select e.status from job j join event e on e.id = j.event_id where j.id = $1",
            self.job_id,
        )
        assert found == (status if self.told else None)


Prepare = Callable[[Stage, int], Awaitable[None]]
"""Changes the rows of an instance that runs."""


async def gain(stage: Stage, compute_id: int) -> None:
    async with stage.roost.store.transaction() as db:
        row = await stage.row(compute_id)
        await allocate(db, REGION, True, row.account_id, compute_id)
    await show(stage, compute_id)


async def lose(stage: Stage, compute_id: int) -> None:
    """One of two that the guest has."""
    await gain(stage, compute_id)
    store, engine = stage.roost.store, stage.engine()
    row = (await held_by(store, compute_id))[-1]
    guest = (await engine.addresses.list())[compute_id]
    assert guest is not None
    more = guest.ipv4 | {IPv4Address(row.address)}
    await engine.addresses.set(replace(guest, ipv4=more))
    await share_queries.leave(store, compute_id, row.address)
    await release_one(store, row.address, stage.roost.clock.now())
    await show(stage, compute_id)


async def share(stage: Stage, compute_id: int) -> None:
    """An address of another instance."""
    other = await stage.instance("running", "running")
    (row,) = await held_by(stage.roost.store, other)
    await share_queries.share(stage.roost.store, compute_id, [row.address])


async def spoil(stage: Stage, compute_id: int) -> None:
    await stage.engine().addresses.lose(compute_id)


async def show(stage: Stage, compute_id: int) -> None:
    rows = await held_by(stage.roost.store, compute_id)
    await address_queries.set_ipv4(stage.roost.store, compute_id, [row.address for row in rows])


async def begin(environment: Environment, prepare: Prepare) -> AddressCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("running", "running")
    await prepare(stage, compute_id)
    row = await stage.row(compute_id)
    async with environment.store.transaction() as db:
        by = log.Starter(environment.queue, db, row.account_id, "somebody")
        await start(by, "compute_addip", compute_id, row.label)
        sql = "select max(id) from job where resource = $1"
        job_id: int = await db.fetchval(sql, resource_of(compute_id))
    return AddressCase(stage, compute_id, job_id)


async def begin_watch(environment: Environment) -> AddressCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("running", "running")
    await spoil(stage, compute_id)
    async with environment.store.transaction() as db:
        await environment.queue.enqueue(db, filter_watch_jobs.WATCH, JobArgs())
        sql = "select max(id) from job where kind = $1"
        job_id: int = await db.fetchval(sql, filter_watch_jobs.WATCH.name)
    return AddressCase(stage, compute_id, job_id, told=False)


SCENARIOS = (
    Scenario(APPLY, partial(begin, prepare=gain), "an instance gets an address"),
    Scenario(APPLY, partial(begin, prepare=lose), "an instance loses an address"),
    Scenario(APPLY, partial(begin, prepare=share), "an instance shares an address"),
    Scenario(APPLY, partial(begin, prepare=spoil), "a guest lost its filter"),
    Scenario(filter_watch_jobs.WATCH, begin_watch, "the watch of filters"),
)
