"""`roost fsck` of backups: copies without row and rows without copies are found and mended."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from roost.app.roost import open_roost
from roost.resources.compute.backups import queries
from roost.resources.compute.backups.records import BackupStatus
from tests.api.test_fsck import fsck
from tests.jobs.backup_scenarios import saved_backup
from tests.support.server import simulated
from tests.support.stage import Stage


@pytest.fixture
async def stage(database_url: str, tmp_path: Path) -> AsyncIterator[Stage]:
    """A Roost without a worker."""
    async with open_roost(simulated(tmp_path, database_url)) as roost:
        yield Stage(roost)


async def backup_of(stage: Stage) -> int:
    return await saved_backup(stage, await stage.instance("offline", "offline"))


async def held(stage: Stage) -> set[int]:
    return {state.id for state in await stage.engine().backups.list()}


async def status(stage: Stage, backup_id: int) -> BackupStatus | None:
    backup = await queries.find(stage.roost.store, backup_id)
    return None if backup is None else backup.status


async def check(stage: Stage, backup_id: int, text: str, done: str) -> None:
    """Found, left alone, mended, and well afterwards."""
    line = f"backup {backup_id} of region us-lake {text}"
    before = await status(stage, backup_id), await held(stage)
    assert any(line in found for found in await fsck(stage, repair=False))
    assert (await status(stage, backup_id), await held(stage)) == before
    assert any(line in found and done in found for found in await fsck(stage, repair=True))
    assert await fsck(stage, repair=False) == ["clean"]


async def test_clean(stage: Stage) -> None:
    await backup_of(stage)
    assert await fsck(stage, repair=True) == ["clean"]


async def test_copies_without_a_row(stage: Stage) -> None:
    backup_id = await backup_of(stage)
    await stage.roost.store.execute("delete from compute_backup where id = $1", backup_id)
    await check(stage, backup_id, "has copies, but does not exist", "deleted the copies")
    assert backup_id not in await held(stage)


async def test_a_row_without_copies(stage: Stage) -> None:
    backup_id = await backup_of(stage)
    await stage.engine().backups.delete(backup_id)
    text = f"backup {backup_id} of region us-lake is successful, but its copies are gone"
    [line, outcome] = await fsck(stage, repair=True)
    assert line.startswith(f"{text}; not repaired: put its copies back")
    assert outcome == "1 found, 0 repaired"
    assert await status(stage, backup_id) == "successful"


@pytest.mark.parametrize("stuck", ["pending", "running", "needsPostProcessing"])
async def test_one_that_no_job_makes(stage: Stage, stuck: BackupStatus) -> None:
    backup_id = await backup_of(stage)
    await queries.set_status(stage.roost.store, backup_id, stuck, stage.roost.clock.now())
    text = f"is {stuck}, but no job works on it"
    await check(stage, backup_id, text, "set its status to failed")
    assert backup_id not in await held(stage)


async def test_a_failed_one_with_copies(stage: Stage) -> None:
    backup_id = await backup_of(stage)
    await queries.set_status(stage.roost.store, backup_id, "failed", stage.roost.clock.now())
    await check(stage, backup_id, "is failed, but has copies", "set its status to failed")
    assert backup_id not in await held(stage)
