"""`roost fsck` finds every kind of drift, leaves alone what jobs work on, and repairs the rest."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from roost.app.fsck import check_all
from roost.app.roost import open_roost
from roost.core.addresses.queries import all_held, release
from roost.core.addresses.service import allocate
from roost.core.events.log import Starter
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.engine import Power
from roost.resources.compute.jobs import BOOT, start_power
from tests.support.client import until
from tests.support.server import simulated
from tests.support.stage import Stage

Break = Callable[[Stage], Awaitable[int]]


@pytest.fixture
async def stage(database_url: str, tmp_path: Path) -> AsyncIterator[Stage]:
    """A Roost without a worker."""
    async with open_roost(simulated(tmp_path, database_url)) as roost:
        yield Stage(roost)


async def fsck(stage: Stage, repair: bool = False) -> list[str]:
    """The lines that it prints."""
    lines: list[str] = []
    outcome = await check_all(stage.roost, repair, lines.append)
    return [*lines, str(outcome)]


async def work(stage: Stage) -> None:
    """Run all jobs that wait."""
    worker = stage.roost.worker()
    task = asyncio.create_task(worker.run())
    unfinished = "select count(*) from job where finished is null"
    await until(lambda: stage.roost.store.fetchval(unfinished), lambda count: count == 0)
    worker.stop()
    await task


async def test_clean(stage: Stage) -> None:
    assert await fsck(stage) == ["clean"]
    await stage.instance("running", "running")
    await stage.instance("offline", "offline")
    await stage.instance("offline", made=False)
    assert await fsck(stage) == ["clean"]
    assert await fsck(stage, repair=True) == ["clean"]


async def _orphan(stage: Stage) -> int:
    compute_id = await stage.instance("running", "running")
    async with stage.roost.store.transaction() as db:
        await release(db, compute_id, stage.roost.clock.now())
        await db.execute("delete from compute_instance where id = $1", compute_id)
    return compute_id


async def _shrunk(stage: Stage) -> int:
    compute_id = await stage.instance("running", "running")
    await stage.change(compute_id, "memory = memory * 2, vcpus = 3")
    return compute_id


async def _stray(stage: Stage) -> int:
    compute_id = await stage.instance("running", "running")
    await stage.engine().disks.make(DiskSpec(999_999, compute_id, 10, "raw"))
    return compute_id


async def _lost(stage: Stage) -> int:
    compute_id = await stage.instance("offline", "offline")
    [_, swap] = await stage.disks(compute_id)
    await stage.engine().disks.lose(compute_id, swap.id)
    return compute_id


async def _resized(stage: Stage) -> int:
    compute_id = await stage.instance("offline", "offline")
    [_, swap] = await stage.disks(compute_id)
    await stage.engine().disks.resize(swap.of_size(100))
    return compute_id


CASES = [
    (_stray, "holds disk 999999, which does not exist", "deleted it", "running", "running"),
    (_orphan, "has a guest, but does not exist", "deleted the guest", None, None),
    (
        lambda stage: stage.instance("offline", "offline", made=False),
        "has a guest that was only half made",
        "deleted the guest",
        "offline",
        None,
    ),
    (
        lambda stage: stage.instance("running", "offline"),
        "is running, but its guest is offline",
        "it is booted again",
        "running",
        "running",
    ),
    (
        lambda stage: stage.instance("running", "offline", watchdog=False),
        "is running, but its guest is offline",
        "set its status to offline",
        "offline",
        "offline",
    ),
    (
        lambda stage: stage.instance("offline", "running"),
        "is offline, but its guest is running",
        "set its status to running",
        "running",
        "running",
    ),
    (
        _shrunk,
        "runs with 1 vCPUs instead of 3, 1024 MB of memory instead of 2048",
        "a job reboots it",
        "running",
        "running",
    ),
    (
        lambda stage: stage.instance("booting", "running"),
        "is booting, but no job works on it",
        "set its status to running",
        "running",
        "running",
    ),
    (
        lambda stage: stage.instance("provisioning", made=False),
        "is provisioning, but no job works on it",
        "set its status to offline",
        "offline",
        None,
    ),
    (
        lambda stage: stage.instance("shutting_down", "offline"),
        "is shutting_down, but no job works on it",
        "set its status to offline",
        "offline",
        "offline",
    ),
    (
        lambda stage: stage.instance("deleting", "running"),
        "is deleting, but no job works on it",
        "a job deletes it",
        None,
        None,
    ),
]


@pytest.mark.parametrize(("break_it", "problem", "remedy", "status", "power"), CASES)
async def test_drift_and_repair(
    stage: Stage, break_it: Break, problem: str, remedy: str, status: str | None, power: str | None
) -> None:
    well = await stage.instance("running", "running")
    compute_id = await break_it(stage)
    text = f"instance {compute_id} of region us-lake {problem}"
    assert await fsck(stage) == [text, "1 found, 0 repaired"]
    assert await fsck(stage, repair=True) == [f"{text}; {remedy}", "1 found and repaired"]
    assert await fsck(stage) == ["clean"]
    await work(stage)
    assert await fsck(stage) == ["clean"]
    assert await stage.status(compute_id) == status
    assert await stage.power(compute_id) == power
    assert (await stage.status(well), await stage.power(well)) == ("running", "running")


@pytest.mark.parametrize("status", ["running", "offline"])
async def test_a_lost_guest(stage: Stage, status: Power) -> None:
    """Its owner decides what becomes of it; what was put back is found again."""
    compute_id = await stage.instance(status)
    text = f"instance {compute_id} of region us-lake is {status}, but its guest is gone"
    assert await fsck(stage) == [text, "1 found, 0 repaired"]
    assert await fsck(stage, repair=True) == [
        f"{text}; not repaired: put its disks back, or rebuild or delete it",
        "1 found, 0 repaired",
    ]
    assert (await stage.status(compute_id), await stage.power(compute_id)) == ("offline", None)
    await stage.make_guest(compute_id, "offline")
    assert await fsck(stage) == ["clean"]


async def test_a_lost_disk(stage: Stage) -> None:
    """Only a swap is made anew."""
    compute_id = await _lost(stage)
    [root, swap] = await stage.disks(compute_id)
    text = f"instance {compute_id} of region us-lake has lost disk"
    repaired = [f"{text} {swap.id}; made it again", "1 found and repaired"]
    assert await fsck(stage) == [f"{text} {swap.id}", "1 found, 0 repaired"]
    assert await fsck(stage, repair=True) == repaired
    assert await stage.engine().disks.read(compute_id, swap.id) == "empty swap"
    await stage.engine().disks.lose(compute_id, root.id)
    kept = [f"{text} {root.id}; not repaired: put it back, or delete it", "1 found, 0 repaired"]
    assert await fsck(stage, repair=True) == kept
    assert await stage.engine().disks.inspect(compute_id, root.id) is None


async def test_a_lost_disk_of_a_guest_that_runs(stage: Stage) -> None:
    compute_id = await stage.instance("running", "running")
    [root, _] = await stage.disks(compute_id)
    await stage.engine().disks.lose(compute_id, root.id)
    assert await fsck(stage, repair=True) == [
        f"instance {compute_id} of region us-lake has lost disk {root.id}; not repaired: "
        "what it held is lost when the instance stops",
        "1 found, 0 repaired",
    ]


async def test_a_disk_of_another_size(stage: Stage) -> None:
    compute_id = await _resized(stage)
    [_, swap] = await stage.disks(compute_id)
    text = f"instance {compute_id} of region us-lake has disk {swap.id} with 100 MB instead of 512"
    assert await fsck(stage) == [text, "1 found, 0 repaired"]
    repaired = [f"{text}; made it 512 MB large", "1 found and repaired"]
    assert await fsck(stage, repair=True) == repaired
    assert await fsck(stage) == ["clean"]


async def test_a_disk_is_never_cut_off(stage: Stage) -> None:
    compute_id = await stage.instance("offline", "offline")
    [root, _] = await stage.disks(compute_id)
    await stage.engine().disks.write(compute_id, root.id, "much", 100)
    await stage.roost.store.execute("update compute_disk set size = 50 where id = $1", root.id)
    text = f"instance {compute_id} of region us-lake has disk {root.id} with {root.size} MB"
    lines = await fsck(stage, repair=True)
    assert lines == [
        f"{text} instead of 50; set its size to {root.size} MB",
        "1 found and repaired",
    ]
    assert (await stage.disks(compute_id))[0].size == root.size
    assert await fsck(stage) == ["clean"]


async def test_disks_of_a_status_that_no_job_ends(stage: Stage) -> None:
    compute_id = await stage.instance("shutting_down", "offline")
    change = "update compute_disk set status = 'deleting' where compute_id = $1"
    await stage.roost.store.execute(change, compute_id)
    assert (await fsck(stage, repair=True))[-1] == "1 found and repaired"
    assert [disk.status for disk in await stage.disks(compute_id)] == ["ready", "ready"]


async def test_what_a_job_works_on_is_left_alone(stage: Stage) -> None:
    compute_id = await stage.instance("running", watchdog=True)
    row = await stage.row(compute_id)
    async with stage.roost.store.transaction() as db:
        await start_power(Starter(stage.roost.queue, db, row.account_id), BOOT, row)
    await stage.change(compute_id, "ipv4 = '{}'")
    assert await fsck(stage, repair=True) == ["clean"]
    assert await stage.status(compute_id) == "booting"


async def test_all_is_repaired_at_once(stage: Stage) -> None:
    for case in CASES:
        await case[0](stage)
    assert (await fsck(stage))[-1] == f"{len(CASES)} found, 0 repaired"
    assert (await fsck(stage, repair=True))[-1] == f"{len(CASES)} found and repaired"
    await work(stage)
    assert await fsck(stage) == ["clean"]


async def test_repair_that_the_engine_refuses(stage: Stage) -> None:
    compute_id = await _orphan(stage)
    await stage.engine().plan.fail("delete", "no power")
    lines = await fsck(stage, repair=True)
    assert lines[0].endswith("; not repaired: no power")
    assert lines[1:] == ["1 found, 0 repaired"]
    assert await stage.power(compute_id) == "running"


async def test_engine_that_does_not_answer(stage: Stage) -> None:
    await _orphan(stage)
    await stage.engine().plan.fail("inspect", "no power")
    lines = await fsck(stage)
    assert lines == ["region us-lake: its instances cannot be seen", "1 found, 0 repaired"]
    assert "; not repaired: no power" in (await fsck(stage, repair=True))[0]


async def test_region_that_the_catalogue_lacks(stage: Stage) -> None:
    await stage.instance("offline", region="atlantis")
    lines = await fsck(stage, repair=True)
    assert lines == [
        "region atlantis: it has instances, but is not in the catalogue; "
        "not repaired: add it to the catalogue",
        "1 found, 0 repaired",
    ]


async def test_guest_in_the_wrong_region(stage: Stage) -> None:
    compute_id = await stage.instance("running", "running")
    [disk, _] = await stage.disks(compute_id)
    await stage.engine("br-south").disks.make(disk.spec)
    text = f"instance {compute_id} of region br-south has a guest, but is in region us-lake"
    assert await fsck(stage, repair=True) == [f"{text}; deleted the guest", "1 found and repaired"]
    assert await stage.power(compute_id) == "running"
    assert await stage.engine("br-south").inspect(compute_id) is None


async def test_the_only_guest_is_in_the_wrong_region(stage: Stage) -> None:
    """As what is on its disks is nowhere else, it goes where it belongs."""
    compute_id = await stage.instance("offline", "offline")
    [disk, _] = await stage.disks(compute_id)
    await stage.engine().disks.write(compute_id, disk.id, "the only copy")
    await stage.engine("br-south").take(compute_id, stage.engine(), [])
    lines = await fsck(stage, repair=True)
    text = f"instance {compute_id} of region br-south has a guest, but is in region us-lake"
    assert f"{text}; moved the guest there" in lines
    assert await stage.engine().disks.read(compute_id, disk.id) == "the only copy"
    assert await stage.engine("br-south").inspect(compute_id) is None
    assert await fsck(stage) == ["clean"]


async def test_addresses_of_nobody(stage: Stage) -> None:
    store = stage.roost.store
    account_id = await store.fetchval("select id from account")
    async with store.transaction() as db:
        held = await allocate(db, "us-lake", True, account_id, 999_999)
    text = f"instance 999999 does not exist, but holds {held.interface.ip}"
    assert await fsck(stage) == [text, "1 found, 0 repaired"]
    assert await fsck(stage, repair=True) == [f"{text}; released them", "1 found and repaired"]
    assert await fsck(stage) == ["clean"]
    assert await all_held(store) == {}


async def test_address_that_is_not_held(stage: Stage) -> None:
    """It is still free, so the instance, whose guest uses it, gets it back."""
    compute_id = await stage.instance("running", "running")
    [address] = (await stage.row(compute_id)).ipv4
    async with stage.roost.store.transaction() as db:
        await release(db, compute_id, stage.roost.clock.now())
    text = f"instance {compute_id} shows {address}, but holds none"
    uses = f"instance {compute_id} in region us-lake uses {address}, 2001:db8::1"
    guest = f"{uses} instead of 2001:db8::1"
    assert await fsck(stage) == [text, guest, "2 found, 0 repaired"]
    lines = await fsck(stage, repair=True)
    assert lines == [f"{text}; it shows and holds {address}", "1 found and repaired"]
    assert await fsck(stage) == ["clean"]
    assert await all_held(stage.roost.store) == {compute_id: [address]}


async def test_address_of_another(stage: Stage) -> None:
    one, other = await stage.instance("offline", "offline"), await stage.instance("offline")
    [own], [foreign] = (await stage.row(one)).ipv4, (await stage.row(other)).ipv4
    await stage.make_guest(other, "offline")
    await stage.change(one, "ipv4 = $2", [foreign])
    text = f"instance {one} shows {foreign}, but holds {own}"
    lines = await fsck(stage, repair=True)
    assert lines == [f"{text}; it shows and holds {own}", "1 found and repaired"]
    assert await fsck(stage) == ["clean"]
    assert (await stage.row(one)).ipv4 == [own]
