"""A region keeps the engine that holds its guests, whatever a process would bind it to."""

from pathlib import Path

import pytest

from roost.app.engines import EngineUnavailableError
from roost.app.roost import open_roost
from roost.core.addresses.service import held_by
from roost.core.events.log import Starter
from roost.resources.compute.jobs import start_delete
from roost.settings import Settings
from tests.jobs.compute_scenarios import finish_jobs
from tests.support.server import simulated
from tests.support.stage import Stage


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return simulated(tmp_path, database_url)


@pytest.mark.parametrize("beside", [False, True])
async def test_another_engine_is_refused(settings: Settings, beside: bool) -> None:
    async with open_roost(settings) as roost:
        stage = Stage(roost)
        compute_id = await stage.instance("running", "running")
        await stage.change(compute_id, "engine = 'qemu'")
    with pytest.raises(EngineUnavailableError) as refused:
        async with open_roost(settings, beside=beside):
            pass
    assert str(refused.value) == (
        "region us-lake has instances on the engine qemu, but would now get the engine simulated:"
        " the catalogue says so"
    )


async def test_another_engine_for_volumes_is_refused(settings: Settings) -> None:
    """Also where the region has no instances any more."""
    async with open_roost(settings) as roost:
        await roost.store.execute(
            """
            insert into volume (account_id, label, region, engine, size, status, hardware_type,
                created, updated)
            select id, 'data', 'us-lake', 'qemu', 20, 'active', 'nvme', now(), now() from account
            """
        )
    with pytest.raises(EngineUnavailableError) as refused:
        async with open_roost(settings):
            pass
    assert str(refused.value) == (
        "region us-lake has volumes on the engine qemu, but would now get the engine simulated:"
        " the catalogue says so"
    )


async def test_a_region_without_instances_changes_freely(settings: Settings) -> None:
    async with open_roost(settings) as roost:
        stage = Stage(roost)
        compute_id = await stage.instance("running", "running")
        await stage.change(compute_id, "engine = 'qemu'")
        await roost.store.execute("delete from compute_instance")
    async with open_roost(settings) as roost:
        stage = Stage(roost)
        compute_id = await stage.instance("running", "running")
        assert (await stage.row(compute_id)).engine == "simulated"


async def test_instances_of_earlier_releases_get_the_engine_of_the_next_start(
    settings: Settings,
) -> None:
    async with open_roost(settings) as roost:
        stage = Stage(roost)
        compute_id = await stage.instance("running", "running")
        await stage.change(compute_id, "engine = null")
    async with open_roost(settings, beside=True) as roost:
        assert (await Stage(roost).row(compute_id)).engine is None
    async with open_roost(settings) as roost:
        assert (await Stage(roost).row(compute_id)).engine == "simulated"


async def test_a_worker_that_came_before_the_instances_deletes_none_of_them(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their addresses stay theirs: the guests are on another engine, and go on using them."""
    monkeypatch.setattr("roost.jobs.kinds.Retry.delay", lambda _self, _failures: 0.0)
    async with open_roost(settings) as roost:
        stage = Stage(roost)
        compute_id = await stage.instance("running", "running")
        await stage.change(compute_id, "engine = 'qemu', status = 'deleting'")
        row = await stage.row(compute_id)
        async with roost.store.transaction() as db:
            await start_delete(Starter(roost.queue, db, row.account_id), row)
        await finish_jobs(stage)
        message = await roost.store.fetchval("select message from event")
        assert message == "Region us-lake is not served by this worker."
        assert await stage.status(compute_id) is not None
        assert await held_by(roost.store, compute_id)
