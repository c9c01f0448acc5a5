"""`roost fsck` of volumes: every kind of drift is found, and mended where that loses nothing."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from roost.app.roost import open_roost
from roost.core.events import log
from roost.resources.volumes import jobs
from roost.resources.volumes.engine import VolumeSpec
from roost.resources.volumes.queries import VOLUME
from roost.resources.volumes.steps import ResizeArgs
from tests.api.test_fsck import fsck, work
from tests.support.server import simulated
from tests.support.stage import Stage
from tests.support.volume_stage import VolumeStage
from tests.support.volumes import failing, volume_engine

Break = Callable[[VolumeStage], Awaitable[int]]


@pytest.fixture
async def volumes(database_url: str, tmp_path: Path) -> AsyncIterator[VolumeStage]:
    """A Roost without a worker."""
    async with open_roost(simulated(tmp_path, database_url)) as roost:
        yield VolumeStage(Stage(roost))


async def in_use(volumes: VolumeStage, *, persists: bool = True, plugged: bool = True) -> int:
    """A volume of an instance that runs."""
    volume_id, compute_id = await volumes.volume(), await volumes.stage.instance(power="running")
    await volumes.attach(volume_id, compute_id, persists=persists, plugged=plugged)
    return volume_id


async def test_clean(volumes: VolumeStage) -> None:
    await volumes.volume()
    await in_use(volumes)
    await in_use(volumes, persists=False)
    compute_id = await volumes.stage.instance("offline", "offline")
    await volumes.attach(await volumes.volume(), compute_id, plugged=False)
    assert await fsck(volumes.stage, repair=True) == ["clean"]


@pytest.mark.parametrize("plugged", [True, False])
async def test_one_that_no_config_names_any_more(volumes: VolumeStage, plugged: bool) -> None:
    """The guest has what its config said when it was booted."""
    volume_id = await in_use(volumes, plugged=plugged)
    await volumes.stage.roost.store.execute(
        "delete from compute_config_device where volume_id = $1", volume_id
    )
    assert await fsck(volumes.stage) == ["clean"]


async def orphan(volumes: VolumeStage) -> int:
    volume_id = await in_use(volumes)
    await volumes.stage.roost.store.execute("delete from volume where id = $1", volume_id)
    return volume_id


async def small(volumes: VolumeStage) -> int:
    volume_id = await volumes.volume()
    await volumes.change(volume_id, "size = 40")
    return volume_id


async def large(volumes: VolumeStage) -> int:
    volume_id = await volumes.volume()
    await volumes.engine().resize(VolumeSpec(volume_id, 50))
    return volume_id


async def resizing(volumes: VolumeStage) -> int:
    volume_id = await large(volumes)
    await volumes.change(volume_id, "status = 'resizing'")
    return volume_id


async def deleting(volumes: VolumeStage) -> int:
    volume_id = await volumes.volume()
    await volumes.change(volume_id, "deleting = true")
    return volume_id


async def begun(volumes: VolumeStage) -> int:
    """Made and plugged in, but never finished."""
    volume_id = await in_use(volumes, plugged=False)
    await volumes.change(volume_id, "status = 'creating'")
    return volume_id


async def elsewhere(volumes: VolumeStage) -> int:
    volume_id, other = await volumes.volume(), await volumes.stage.instance(power="running")
    await volumes.engine().plug(volume_id, "label", other)
    await volumes.change(volume_id, "label = $2", f"guest-{other}")
    return volume_id


CASES: list[tuple[Break, str, str, bool]] = [
    (orphan, "has data, but does not exist", "deleted the data", False),
    (small, "is 40 GiB, but its data are 20 GiB", "made them 40 GiB", True),
    (large, "is 20 GiB, but its data are 50 GiB", "set its size to 50 GiB", True),
    (
        resizing,
        "is resizing, but no job works on it",
        "set its status to active, set its size to 50 GiB",
        True,
    ),
    (
        lambda volumes: volumes.volume("creating", made=False),
        "is creating, but no job works on it",
        "a job deletes it",
        False,
    ),
    (begun, "is creating, but no job works on it", "a job deletes it", False),
    (deleting, "is being deleted, but no job works on it", "a job deletes it", False),
    (
        lambda volumes: in_use(volumes, plugged=False),
        "is not plugged into instance {compute_id}, which runs",
        "plugged it in",
        True,
    ),
    (
        lambda volumes: in_use(volumes, persists=False, plugged=False),
        "is not plugged into instance {compute_id}, which runs",
        "plugged it in",
        True,
    ),
    (
        elsewhere,
        "is plugged into instance {guest} without being its",
        "took it from there",
        True,
    ),
]


@pytest.mark.parametrize(("break_it", "problem", "remedy", "stays"), CASES)
async def test_drift_and_repair(
    volumes: VolumeStage, break_it: Break, problem: str, remedy: str, stays: bool
) -> None:
    well = await in_use(volumes)
    volume_id = await break_it(volumes)
    row, data = await volumes.row(volume_id), await volumes.data(volume_id)
    problem = problem.format(compute_id=row and row.compute_id, guest=data and data.compute_id)
    text = f"volume {volume_id} of region us-lake {problem}"
    assert await fsck(volumes.stage) == [text, "1 found, 0 repaired"]
    repaired = [f"{text}; {remedy}", "1 found and repaired"]
    assert await fsck(volumes.stage, repair=True) == repaired
    assert await fsck(volumes.stage) == ["clean"]
    await work(volumes.stage)
    assert await fsck(volumes.stage) == ["clean"]
    assert (await volumes.row(volume_id) is not None) == stays
    assert (await volumes.data(volume_id) is not None) == stays
    state = await volumes.data(well)
    assert state is not None
    assert state.compute_id is not None


async def test_lost_data_are_for_a_person(volumes: VolumeStage) -> None:
    volume_id = await volumes.volume(held=False)
    lines = await fsck(volumes.stage, repair=True)
    assert lines == [
        f"volume {volume_id} of region us-lake has lost its data; "
        "not repaired: put the data back, or delete the volume",
        "1 found, 0 repaired",
    ]
    await volumes.engine().create(VolumeSpec(volume_id, 20))
    assert await fsck(volumes.stage) == ["clean"]


async def test_what_a_job_works_on_is_left_alone(volumes: VolumeStage) -> None:
    volume_id = await small(volumes)
    async with volumes.stage.roost.store.transaction() as db:
        account_id = await db.fetchval("select min(id) from account")
        args = ResizeArgs(volume_id=volume_id, size=60)
        by = log.Starter(volumes.stage.roost.queue, db, account_id)
        await log.start(by, jobs.RESIZE, args, VOLUME.entity(volume_id, "label"))
    assert await fsck(volumes.stage, repair=True) == ["clean"]
    row = await volumes.row(volume_id)
    assert row is not None
    assert row.status == "resizing"


async def test_a_guest_that_still_uses_it(volumes: VolumeStage) -> None:
    volume_id = await elsewhere(volumes)
    await volumes.engine().mount(volume_id)
    lines = await fsck(volumes.stage, repair=True)
    assert "; not repaired: " in lines[0]
    assert lines[1] == "1 found, 0 repaired"
    await volumes.engine().mount(volume_id, False)
    assert (await fsck(volumes.stage, repair=True))[-1] == "1 found and repaired"


async def test_a_slot_of_somebody_else(volumes: VolumeStage) -> None:
    volume_id, compute_id = await volumes.volume(), await volumes.stage.instance("offline")
    await volumes.stage.make_guest(compute_id, "offline")
    await volumes.attach(volume_id, compute_id, plugged=False)
    await volumes.change(volume_id, "compute_id = null")
    config_id = (await volumes.stage.row(compute_id)).config_id
    text = (
        f"config {config_id} of instance {compute_id} names volume {volume_id}, "
        "which the instance does not keep"
    )
    assert await fsck(volumes.stage) == [text, "1 found, 0 repaired"]
    lines = await fsck(volumes.stage, repair=True)
    assert lines == [f"{text}; freed its slots", "1 found and repaired"]
    assert await fsck(volumes.stage) == ["clean"]
    assert await volumes.slots(volume_id) == 0


@pytest.mark.parametrize(("only", "remedy"), [(True, "moved"), (False, "deleted")])
async def test_data_in_the_wrong_region(volumes: VolumeStage, only: bool, remedy: str) -> None:
    """The only ones go where they belong; others are what is left of a move."""
    volume_id = await small(volumes)
    roost = volumes.stage.roost
    astray, size = volume_engine(roost, "br-south"), (await volumes.engine().list())[0].size
    if only:
        await volumes.engine().write(volume_id, "the only copy")
        await astray.take(volume_id, volumes.engine())
    else:
        await astray.create(VolumeSpec(volume_id, size))
    lines = await fsck(volumes.stage, repair=True)
    text = f"volume {volume_id} of region br-south has data, but is in region us-lake"
    assert any(line.startswith(f"{text}; {remedy} the data") for line in lines)
    assert await volumes.data(volume_id) is not None
    assert await volumes.engine().read(volume_id) == ("the only copy" if only else "")
    assert await astray.list() == []


async def test_an_engine_that_does_not_answer(volumes: VolumeStage) -> None:
    await small(volumes)
    async with failing(volumes.stage.roost, "volume_inspect", "no power"):
        lines = await fsck(volumes.stage, repair=True)
    assert lines == [
        "region us-lake: its volumes cannot be seen; not repaired: no power",
        "1 found, 0 repaired",
    ]


async def test_a_region_that_the_catalogue_lacks(volumes: VolumeStage) -> None:
    await volumes.volume(region="atlantis", held=False)
    lines = await fsck(volumes.stage, repair=True)
    assert lines[0].startswith("region atlantis: it has volumes, but is not in the catalogue")
