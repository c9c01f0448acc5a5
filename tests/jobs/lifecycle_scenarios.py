"""Jobs on whole instances for the harness, over a simulated engine; the handlers enqueue them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from roost.core.identity import Identity
from roost.core.instance_queries import InstanceStatus
from roost.core.scopes import Scopes
from roost.jobs import Environment
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.engine import Power
from roost.resources.compute.lifecycle import endpoints, jobs
from roost.resources.compute.lifecycle.bodies import (
    CloneInstance,
    MigrateInstance,
    RebuildInstance,
    RescueInstance,
    ResizeInstance,
)
from roost.resources.compute.lifecycle.migration_jobs import MIGRATE
from roost.web.bodies import Body
from roost.web.call import Call
from roost.web.checks import Checks
from roost.web.registry import Endpoint
from tests.jobs.compute_scenarios import check_event, check_traces, finish_jobs
from tests.jobs.harness import Scenario
from tests.support.instances import PASSWORD
from tests.support.stage import PLAN, REGION, SWAP, Stage

B = TypeVar("B", bound=Body)
Look = Callable[[], Awaitable[None]]

CONTENT = "what was on the disk"
LARGER = "g1-standard-1"
UPGRADED = "g0-standard-1"
ELSEWHERE = "br-south"
_MADE = "image roost/debian12"


@dataclass(frozen=True)
class LifecycleCase:
    """One job on one instance, or on two; a Case of the harness."""

    stage: Stage
    compute_ids: tuple[int, ...]
    job_id: int
    done: Look
    failed: Look

    async def check_done(self) -> None:
        await check_event(self.stage, self.job_id, "finished")
        await finish_jobs(self.stage)
        await self.done()
        await self._check_traces()

    async def check_failed(self) -> None:
        await check_event(self.stage, self.job_id, "failed")
        await self.failed()
        await self._check_traces()

    async def _check_traces(self) -> None:
        for compute_id in self.compute_ids:
            await check_traces(self.stage, compute_id)


async def ask(
    stage: Stage, endpoint: Endpoint, compute_id: int, model: type[B], sent: Mapping[str, object]
) -> int:
    """Call the endpoint's handler as an unrestricted user would; the job's id."""
    roost = stage.roost
    body = model.model_validate(sent, context=Checks(roost.services))
    async with roost.store.transaction() as db:
        row = await stage.row(compute_id)
        identity = Identity(
            account_id=row.account_id,
            account_uuid="",
            user_id=1,
            username="somebody",
            restricted=False,
            user_type="default",
            rights=frozenset(),
            account_access=None,
            token_id=1,
            token_kind="personal",
            scopes=Scopes.parse("*"),
            expiry=None,
        )
        call = Call(
            caller=identity,
            params={"computeId": compute_id},
            db=db,
            services=roost.services,
            clock=roost.clock,
        )
        await endpoint.handler(call, body)
        job_id: int = await db.fetchval("select max(id) from job where finished is null")
    return job_id


async def _place(stage: Stage, power: Power | None = "running") -> int:
    """An instance that rests, with CONTENT on its first disk if it has been made."""
    compute_id = await stage.instance(power or "offline", power, made=power is not None)
    if power is not None:
        disk = (await stage.disks(compute_id))[0]
        await stage.engine().disks.write(compute_id, disk.id, CONTENT, 8)
    return compute_id


async def _look(stage: Stage, compute_id: int, status: InstanceStatus, power: Power | None) -> None:
    found = await stage.status(compute_id), await stage.power(compute_id)
    assert found == (status, power)


async def _contents(stage: Stage, compute_id: int) -> list[str]:
    """What is on the disks that are made."""
    engine, owned = stage.engine().disks, await stage.disks(compute_id)
    return [await engine.read(compute_id, disk.id) for disk in owned if disk.made]


async def begin_rebuild(
    environment: Environment, power: Power | None, booted: bool
) -> LifecycleCase:
    stage = environment.services.get(Stage)
    compute_id = await _place(stage, power)
    sent = {"image": "roost/debian12", "root_pass": PASSWORD, "booted": booted, "type": LARGER}
    job_id = await ask(stage, endpoints.rebuild_instance, compute_id, RebuildInstance, sent)
    after: Power = "running" if booted else "offline"

    async def done() -> None:
        await _look(stage, compute_id, after, after)
        assert await _contents(stage, compute_id) == [_MADE, "empty swap"]
        await check_rows(51200, LARGER)

    async def failed() -> None:
        """As it was, or with new disks; those are made by the next boot, if they are not yet."""
        assert await stage.status(compute_id) == "offline"
        assert await stage.power(compute_id) != "running"
        contents = await _contents(stage, compute_id)
        if CONTENT in contents or (power is None and (await stage.row(compute_id)).type == PLAN):
            await check_rows(25600, PLAN)
        else:
            assert contents in ([], [_MADE, "empty swap"])
            await check_rows(51200, LARGER)

    async def check_rows(size: int, plan: str) -> None:
        owned, row = await stage.disks(compute_id), await stage.row(compute_id)
        assert (row.type, row.disk, row.image) == (plan, size, "roost/debian12")
        assert [disk.size for disk in owned] == [size - SWAP, SWAP]
        assert {disk.status for disk in owned} == {"ready" if owned[0].made else "not ready"}
        [config] = await configs.names(stage.roost.store, compute_id)
        boot = await configs.find_boot(stage.roost.store, config.id)
        assert boot is not None
        assert [slot.disk_id for slot in boot.slots] == [disk.id for disk in owned]

    return LifecycleCase(stage, (compute_id,), job_id, done, failed)


async def begin_rescue(environment: Environment, power: Power) -> LifecycleCase:
    stage = environment.services.get(Stage)
    compute_id = await _place(stage, power)
    job_id = await ask(stage, endpoints.rescue_instance, compute_id, RescueInstance, {})

    async def done() -> None:
        await _look(stage, compute_id, "running", "running")
        console = await stage.engine().console(compute_id, 2000)
        assert b"rescue login:" in console

    failed = partial(_look, stage, compute_id, "offline", "offline")
    return LifecycleCase(stage, (compute_id,), job_id, done, failed)


async def begin_resize(environment: Environment, power: Power) -> LifecycleCase:
    stage = environment.services.get(Stage)
    compute_id = await _place(stage, power)
    job_id = await ask(
        stage, endpoints.resize_instance, compute_id, ResizeInstance, {"type": LARGER}
    )

    async def look(plan: str) -> None:
        await _look(stage, compute_id, power, power)
        specs = stage.roost.catalog.type(plan)
        row, owned = await stage.row(compute_id), await stage.disks(compute_id)
        assert (row.type, row.disk, row.memory) == (plan, specs.disk, specs.memory)
        assert [disk.size for disk in owned] == [specs.disk - SWAP, SWAP]
        assert await _contents(stage, compute_id) == [CONTENT, "empty swap"]
        guest = await stage.engine().inspect(compute_id)
        assert guest is not None
        if power == "running":
            assert guest.memory == specs.memory

    return LifecycleCase(stage, (compute_id,), job_id, partial(look, LARGER), partial(look, PLAN))


async def begin_clone(environment: Environment, new: bool) -> LifecycleCase:
    stage = environment.services.get(Stage)
    source = await _place(stage)
    target = None if new else await _place_empty(stage)
    sent = {"region": REGION, "type": PLAN} if new else {"compute_id": target}
    job_id = await ask(stage, endpoints.clone_instance, source, CloneInstance, sent)
    compute_id: int = target or await stage.roost.store.fetchval(
        "select id from compute_instance where source_id = $1", source
    )

    async def done() -> None:
        await _look(stage, source, "running", "running")
        await _look(stage, compute_id, "offline", "offline")
        assert await _contents(stage, compute_id) == [CONTENT, "empty swap"]
        assert len(await configs.names(stage.roost.store, compute_id)) == 1

    async def failed() -> None:
        await _look(stage, source, "running", "running")
        assert await stage.power(compute_id) is None
        assert await stage.status(compute_id) == (None if new else "offline")
        assert await stage.disks(compute_id) == []
        assert await configs.names(stage.roost.store, compute_id) == []

    return LifecycleCase(stage, (source, compute_id), job_id, done, failed)


async def begin_migrate(environment: Environment, power: Power) -> LifecycleCase:
    """To another region, with a backup and a larger plan."""
    stage = environment.services.get(Stage)
    compute_id = await _place(stage, power)
    await stage.change(compute_id, "type = $2", UPGRADED)
    address = (await stage.row(compute_id)).ipv4
    sent = {"region": ELSEWHERE, "upgrade": True}
    job_id = await ask(stage, endpoints.migrate_instance, compute_id, MigrateInstance, sent)

    async def done() -> None:
        row = await stage.row(compute_id)
        assert (row.region, row.target_region, row.status) == (ELSEWHERE, None, power)
        assert row.type == stage.roost.catalog.type(UPGRADED).successor
        assert len(row.ipv4) == 1
        assert row.ipv4 != address
        guest = await stage.engine(ELSEWHERE).inspect(compute_id)
        assert guest is not None
        assert guest.power == power
        [root, _] = await stage.disks(compute_id)
        assert await stage.engine(ELSEWHERE).disks.read(compute_id, root.id) == CONTENT
        assert await stage.power(compute_id) is None

    async def failed() -> None:
        """It is where the rows say, whole, and nothing of it is in the other region."""
        row = await stage.row(compute_id)
        other = ELSEWHERE if row.region == REGION else REGION
        assert (row.target_region, row.status) == (None, power)
        [root, _] = await stage.disks(compute_id)
        assert await stage.engine(row.region).disks.read(compute_id, root.id) == CONTENT
        assert await stage.engine(other).inspect(compute_id) is None
        assert (row.ipv4 == address) == (row.region == REGION)

    return LifecycleCase(stage, (compute_id,), job_id, done, failed)


async def _place_empty(stage: Stage) -> int:
    """An instance without disks and configs."""
    compute_id = await stage.instance("offline", made=False)
    for table in ("compute_config", "compute_disk"):
        await stage.roost.store.execute(f"delete from {table} where compute_id = $1", compute_id)
    return compute_id


SCENARIOS = (
    Scenario(jobs.REBUILD, partial(begin_rebuild, power="running", booted=True), "rebuild"),
    Scenario(
        jobs.REBUILD, partial(begin_rebuild, power=None, booted=False), "rebuild what was not made"
    ),
    Scenario(jobs.RESCUE, partial(begin_rescue, power="running"), "rescue what runs"),
    Scenario(jobs.RESCUE, partial(begin_rescue, power="offline"), "rescue what is off"),
    Scenario(jobs.RESIZE, partial(begin_resize, power="running"), "resize what runs"),
    Scenario(jobs.RESIZE, partial(begin_resize, power="offline"), "resize what is off"),
    Scenario(MIGRATE, partial(begin_migrate, power="running"), "migrate what runs"),
    Scenario(MIGRATE, partial(begin_migrate, power="offline"), "migrate what is off"),
    Scenario(jobs.CLONE, partial(begin_clone, new=True), "clone to a new instance"),
    Scenario(jobs.CLONE, partial(begin_clone, new=False), "clone to another instance"),
)
