"""Jobs on backups for the harness, over a simulated engine."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from roost.core.events import log
from roost.jobs import Environment, JobKind
from roost.resources.compute.backups import jobs, queries, rules, service
from roost.resources.compute.backups.records import DISKS
from roost.resources.compute.backups.schedule_jobs import DUE, DueArgs
from roost.resources.compute.backups.service import place_disks
from roost.resources.compute.backups.steps import CreateFromBackupArgs, RestoreArgs
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.engine import Power
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.locks import InstanceArgs
from tests.jobs.compute_scenarios import check_event, check_traces, finish_jobs, newest_job
from tests.jobs.harness import Scenario
from tests.support.stage import Stage

A = TypeVar("A", bound=InstanceArgs)
Look = Callable[[], Awaitable[None]]

_KEPT = (["successful", "failed"], ["successful", "successful"], ["successful"])
"""A snapshot that fails leaves the one before; one whose predecessor resists is whole."""

CONTENT = "what was saved"


@dataclass(frozen=True)
class BackupCase:
    """One job on the backups of one instance; a Case of the harness."""

    stage: Stage
    compute_id: int
    job_id: int
    done: Look
    failed: Look

    async def check_done(self) -> None:
        await check_event(self.stage, self.job_id, "finished")
        await finish_jobs(self.stage)
        await self.done()
        await check_traces(self.stage, self.compute_id)

    async def check_failed(self) -> None:
        await check_event(self.stage, self.job_id, "failed")
        await self.failed()
        await check_traces(self.stage, self.compute_id)


@dataclass(frozen=True)
class DueCase:
    """Automatic backups that are due; nobody is told of the job that begins them."""

    stage: Stage
    compute_id: int
    job_id: int

    async def check_done(self) -> None:
        await finish_jobs(self.stage)
        assert await _statuses(self.stage, self.compute_id) == ["successful"]
        await check_traces(self.stage, self.compute_id)

    async def check_failed(self) -> None:
        await finish_jobs(self.stage)
        assert await _statuses(self.stage, self.compute_id) in ([], ["successful"])
        await check_traces(self.stage, self.compute_id)


async def _statuses(stage: Stage, compute_id: int) -> list[str]:
    """Of all backups of an instance, by id; what the engine holds is what is successful."""
    rows = await stage.roost.store.fetch(
        "select id, status from compute_backup where compute_id = $1 order by id", compute_id
    )
    held = {state.id for state in await stage.engine().backups.list()}
    assert {row["id"] for row in rows if row["status"] == "successful"} <= held
    assert not {row["id"] for row in rows if row["status"] == "failed"} & held
    return [row["status"] for row in rows]


async def _expect(stage: Stage, compute_id: int, *allowed: list[str]) -> None:
    assert await _statuses(stage, compute_id) in allowed


async def _begin_backup(stage: Stage, compute_id: int) -> int:
    roost = stage.roost
    instance = await stage.row(compute_id)
    async with roost.store.transaction() as db:
        by = log.Starter(roost.queue, db, instance.account_id, "somebody")
        return await service.begin(by, instance, stage.engine().name, "snapshot", "label")


async def saved_backup(stage: Stage, compute_id: int) -> int:
    """A successful backup of an instance whose first disk holds CONTENT."""
    disk = (await stage.disks(compute_id))[0]
    await stage.engine().disks.write(compute_id, disk.id, CONTENT, 8)
    backup_id = await _begin_backup(stage, compute_id)
    await finish_jobs(stage)
    await stage.engine().disks.write(compute_id, disk.id, "something else", 8)
    return backup_id


async def _enqueue(stage: Stage, kind: JobKind[A], args: A) -> int:
    instance, roost = await stage.row(args.compute_id), stage.roost
    async with roost.store.transaction() as db:
        by = log.Starter(roost.queue, db, instance.account_id, "somebody")
        await log.start(by, kind, args, COMPUTE.of(instance))
        return await newest_job(db, instance.id)


async def begin_snapshot(environment: Environment) -> BackupCase:
    """One comes in the place of another."""
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("running", "running")
    await saved_backup(stage, compute_id)
    await _begin_backup(stage, compute_id)
    return BackupCase(
        stage,
        compute_id,
        await newest_job(stage.roost.store, compute_id),
        done=partial(_expect, stage, compute_id, ["successful"]),
        failed=partial(_expect, stage, compute_id, *_KEPT),
    )


async def begin_cancel(environment: Environment) -> BackupCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("offline", "offline")
    await saved_backup(stage, compute_id)
    job_id = await _enqueue(stage, jobs.CANCEL, InstanceArgs(compute_id=compute_id))

    async def look(enabled: bool, *allowed: list[str]) -> None:
        await _expect(stage, compute_id, *allowed)
        assert await queries.is_enabled(stage.roost.store, compute_id) is enabled

    return BackupCase(
        stage,
        compute_id,
        job_id,
        done=partial(look, False, []),
        failed=partial(look, True, ["successful"], []),
    )


async def begin_restore(environment: Environment, overwrite: bool) -> BackupCase:
    stage = environment.services.get(Stage)
    status: Power = "running" if overwrite else "offline"
    compute_id = await stage.instance(status, status)
    backup_id = await saved_backup(stage, compute_id)
    places = await _places(stage, backup_id, compute_id)
    args = RestoreArgs(
        compute_id=compute_id,
        backup_id=backup_id,
        disks=places,
        overwrite=overwrite,
        former=status,
    )
    job_id = await _enqueue(stage, jobs.RESTORE, args)
    new = min(places.values())
    old = next(disk for disk in await stage.disks(compute_id) if disk.id not in places.values())

    async def look_done() -> None:
        assert await stage.status(compute_id) == "offline"
        assert len(await stage.disks(compute_id)) == (2 if overwrite else 4)
        assert await _content(stage, compute_id, new) == CONTENT

    async def look_failed() -> None:
        """There are the old disks or the new ones, or both; what runs still does."""
        assert await stage.status(compute_id) == await stage.power(compute_id)
        held = {disk.id for disk in await stage.disks(compute_id)}
        assert held & {old.id, new}
        if old.id in held:
            assert await _content(stage, compute_id, old.id) == "something else"
        if new in held:
            assert await _content(stage, compute_id, new) == CONTENT

    return BackupCase(stage, compute_id, job_id, done=look_done, failed=look_failed)


async def begin_create(environment: Environment, booted: bool) -> BackupCase:
    stage = environment.services.get(Stage)
    backup_id = await saved_backup(stage, await stage.instance("offline", "offline"))
    compute_id = await stage.instance("provisioning", made=False)
    await _strip(stage, compute_id)
    places = await _places(stage, backup_id, compute_id)
    args = CreateFromBackupArgs(
        compute_id=compute_id, backup_id=backup_id, disks=places, booted=booted
    )
    job_id = await _enqueue(stage, jobs.CREATE, args)
    power = "running" if booted else "offline"

    async def look_done() -> None:
        assert (await stage.status(compute_id), await stage.power(compute_id)) == (power, power)
        assert await _content(stage, compute_id, min(places.values())) == CONTENT

    async def look_failed() -> None:
        assert await stage.status(compute_id) == "offline"
        assert await stage.disks(compute_id) == []

    return BackupCase(stage, compute_id, job_id, done=look_done, failed=look_failed)


async def begin_due(environment: Environment) -> DueCase:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance("offline", "offline")
    window, _, _ = rules.window_at(stage.roost.clock.now())
    await stage.change(compute_id, "backup_window = $2", window)
    async with environment.store.transaction() as db:
        job = await environment.queue.enqueue(db, DUE, DueArgs())
    return DueCase(stage, compute_id, job.id)


async def _strip(stage: Stage, compute_id: int) -> None:
    """An instance that has nothing to boot from yet."""
    store = stage.roost.store
    await store.execute("delete from compute_config where compute_id = $1", compute_id)
    await store.execute("delete from compute_disk where compute_id = $1", compute_id)


async def _places(stage: Stage, backup_id: int, compute_id: int) -> dict[int, int]:
    roost = stage.roost
    backup = await queries.find(roost.store, backup_id)
    assert backup is not None
    async with roost.store.transaction() as db:
        held = DISKS.validate_json(backup.disks)
        return await place_disks(db, held, compute_id, roost.clock.now())


async def _content(stage: Stage, compute_id: int, disk_id: int) -> str:
    assert await disks.find(stage.roost.store, compute_id, disk_id) is not None
    return await stage.engine().disks.read(compute_id, disk_id)


SCENARIOS = (
    Scenario(jobs.SNAPSHOT, begin_snapshot, "snapshot"),
    Scenario(jobs.CANCEL, begin_cancel, "backups cancel"),
    Scenario(jobs.RESTORE, partial(begin_restore, overwrite=True), "restore in place"),
    Scenario(jobs.RESTORE, partial(begin_restore, overwrite=False), "restore beside"),
    Scenario(jobs.CREATE, partial(begin_create, booted=True), "create from backup"),
    Scenario(DUE, begin_due, "backups due"),
)
