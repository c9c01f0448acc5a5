"""`roost fsck` and the instances that a clone is made of, and to."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from roost.app.fsck import check_all
from roost.app.roost import open_roost
from roost.resources.compute.lifecycle.bodies import CloneInstance
from roost.resources.compute.lifecycle.endpoints import clone_instance
from tests.jobs.compute_scenarios import finish_jobs
from tests.jobs.lifecycle_scenarios import ask
from tests.support.server import simulated
from tests.support.stage import PLAN, REGION, Stage


@pytest.fixture
async def stage(database_url: str, tmp_path: Path) -> AsyncIterator[Stage]:
    """A Roost without a worker."""
    async with open_roost(simulated(tmp_path, database_url)) as roost:
        yield Stage(roost)


async def fsck(stage: Stage, repair: bool = False) -> list[str]:
    lines: list[str] = []
    await check_all(stage.roost, repair, lines.append)
    return lines


async def test_clones(stage: Stage) -> None:
    """A source is left alone while it is cloned, and freed when the clone is lost."""
    source = await stage.instance("running", "running")
    sent = {"region": REGION, "type": PLAN}
    job_id = await ask(stage, clone_instance, source, CloneInstance, sent)
    assert await fsck(stage) == []
    store = stage.roost.store
    target = await store.fetchval("select id from compute_instance where source_id = $1", source)
    await store.execute("delete from job where id = $1", job_id)
    await fsck(stage, repair=True)
    assert await stage.status(target) == "offline"
    await fsck(stage, repair=True)
    assert await stage.status(source) == "running"
    assert await fsck(stage) == []
    await ask(stage, clone_instance, source, CloneInstance, sent)
    await finish_jobs(stage)
    assert await stage.status(source) == "running"
    assert await fsck(stage) == []
