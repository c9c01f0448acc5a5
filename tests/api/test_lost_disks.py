"""An instance whose disks are gone: never replaced by an empty one behind its owner's back."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from roost.app.fsck import check_all
from roost.app.roost import open_roost
from roost.core.events.log import Starter
from roost.jobs.kinds import JobKind
from roost.resources.compute.jobs import BOOT, REBOOT, start_delete, start_power
from roost.resources.compute.locks import InstanceArgs
from tests.jobs.compute_scenarios import finish_jobs
from tests.support.server import simulated
from tests.support.stage import Stage

GONE = re.compile("Disk [0-9]+ does not exist")


@pytest.fixture
async def stage(database_url: str, tmp_path: Path) -> AsyncIterator[Stage]:
    async with open_roost(simulated(tmp_path, database_url)) as roost:
        yield Stage(roost)


async def change(stage: Stage, kind: JobKind[InstanceArgs] | None, compute_id: int) -> str | None:
    """Run a job on an instance, or delete it; returns what its owner is told when it fails."""
    row, queue = await stage.row(compute_id), stage.roost.queue
    async with stage.roost.store.transaction() as db:
        by = Starter(queue, db, row.account_id)
        if kind is None:
            await start_delete(by, row)
        else:
            await start_power(by, kind, row)
    async with asyncio.timeout(120):
        await finish_jobs(stage)
    message: str | None = await stage.roost.store.fetchval(
        "select message from event where entity_id = $1 order by id desc limit 1", str(compute_id)
    )
    return message


async def test_it_does_not_boot(stage: Stage) -> None:
    compute_id = await stage.instance("offline")
    assert GONE.fullmatch(await change(stage, BOOT, compute_id) or "")
    assert (await stage.status(compute_id), await stage.power(compute_id)) == ("offline", None)


async def test_it_does_not_reboot(stage: Stage) -> None:
    compute_id = await stage.instance("running")
    assert GONE.fullmatch(await change(stage, REBOOT, compute_id) or "")
    assert (await stage.status(compute_id), await stage.power(compute_id)) == ("offline", None)


async def test_fsck_makes_none(stage: Stage) -> None:
    compute_id = await stage.instance("offline")
    outcome = await check_all(stage.roost, True, lambda _line: None)
    assert str(outcome) == "1 found, 0 repaired"
    assert await stage.power(compute_id) is None


async def test_it_can_be_deleted(stage: Stage) -> None:
    compute_id = await stage.instance("offline")
    assert not await change(stage, None, compute_id)
    assert await stage.status(compute_id) is None


async def test_one_that_was_never_made_boots(stage: Stage) -> None:
    compute_id = await stage.instance("offline", made=False)
    assert not await change(stage, BOOT, compute_id)
    assert (await stage.status(compute_id), await stage.power(compute_id)) == ("running",) * 2
