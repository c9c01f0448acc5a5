"""Backups of instances over HTTP (reference: Compute backup, operations)."""

import pytest

from roost.app.roost import Roost
from roost.jobs.kinds import Retry
from roost.jobs.queue import JobQueue
from roost.resources.compute.backups import rules
from roost.resources.compute.backups.schedule_jobs import DUE, DueArgs
from tests.support.client import Client, Json, until
from tests.support.disks import engine_of, events, path_of, powered, quiet, roomy
from tests.support.instances import INSTANCES, PASSWORD, create_body, made
from tests.support.volumes import failing, paused

NONE: Json = {"automatic": [], "snapshot": {"current": None, "in_progress": None}}


async def enabled(client: Client, **changes: object) -> str:
    """The path of an instance with backups."""
    path = path_of(await made(client, **changes))
    await client.post(f"{path}/backups/enable")
    return path


async def saved(client: Client, path: str, label: str = "first") -> Json:
    """A snapshot that is successful."""
    backup = await client.post(f"{path}/backups", {"label": label})
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("compute_snapshot", "finished")
    return await client.get(f"{path}/backups/{backup['id']}")


async def mark(client: Client, roost: Roost, path: str, content: str) -> None:
    """Write to the first disk of an instance, behind its guest's back."""
    disk = (await client.get(f"{path}/disks"))["data"][0]
    await engine_of(roost).disks.write(_id(path), disk["id"], content, 8)


async def contents(client: Client, roost: Roost, path: str) -> list[str]:
    rows = (await client.get(f"{path}/disks"))["data"]
    return [await engine_of(roost).disks.read(_id(path), row["id"]) for row in rows]


def _id(path: str) -> int:
    return int(path.rpartition("/")[2])


@pytest.mark.spec("B compute backups", "B compute backups unchosen")
async def test_enable_choose_a_time_and_cancel(client: Client, roost: Roost) -> None:
    path = path_of(await made(client))
    off = {"enabled": False, "available": False, "last_successful": None}
    assert (await client.get(path))["backups"] == {**off, "schedule": {"day": None, "window": None}}
    assert await client.get(f"{path}/backups") == NONE

    await client.post(f"{path}/backups/enable")
    unchosen = {"day": "Scheduling", "window": "Scheduling"}
    assert (await client.get(path))["backups"] == {**off, "enabled": True, "schedule": unchosen}
    await client.post(f"{path}/backups/enable")
    actions = [event["action"] for event in await events(client, path)]
    assert actions.count("backups_enable") == 1

    chosen = {"day": "Monday", "window": "W10"}
    row = await client.put(path, {"backups": {"schedule": chosen}})
    assert row["backups"]["schedule"] == chosen
    row = await client.put(path, {"backups": {"schedule": {"day": None, "window": "W0"}}})
    assert row["backups"]["schedule"] == {"day": "Monday", "window": "W0"}
    assert (await client.put(path, row))["backups"] == row["backups"]

    backup = await saved(client, path)
    assert (await client.get(path))["backups"]["last_successful"] == backup["finished"]
    await client.post(f"{path}/backups/cancel")
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("backups_cancel", "finished")
    assert (await client.get(path))["backups"] == {**off, "schedule": {"day": None, "window": None}}
    assert await client.get(f"{path}/backups") == NONE
    assert backup["id"] not in {state.id for state in await engine_of(roost).backups.list()}


@pytest.mark.spec("B compute backups")
@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ({"day": "Monday"}, ("backups.schedule.day", "Backups are not enabled")),
        ({"window": "W2"}, ("backups.schedule.window", "Backups are not enabled")),
        ({"day": "monday"}, ("backups.schedule.day", None)),
        ({"window": "W1"}, ("backups.schedule.window", None)),
        ({"window": 2}, ("backups.schedule.window", None)),
    ],
)
async def test_a_time_that_cannot_be_chosen(
    client: Client, schedule: Json, problem: tuple[str, str | None]
) -> None:
    path = path_of(await made(client))
    before = await client.get(path)
    answer = await client.send("PUT", path, {"label": "other", "backups": {"schedule": schedule}})
    [(field, reason)] = answer.problems
    assert (answer.status, field) == (400, problem[0])
    assert problem[1] is None or reason == problem[1]
    assert await client.get(path) == before


async def test_a_snapshot_and_the_next_one(client: Client, roost: Roost) -> None:
    path = await enabled(client)
    async with paused(roost, "backup_save"):
        backup = await client.post(f"{path}/backups", {"label": "first"})
        assert (backup["type"], backup["status"], backup["available"]) == (
            "snapshot",
            "pending",
            False,
        )
        assert backup["finished"] is None
        view = await client.get(f"{path}/backups")
        assert view["snapshot"]["in_progress"]["id"] == backup["id"]
        assert view["snapshot"]["current"] is None
        answer = await client.send("POST", f"{path}/rescue", {})
        assert answer.problems == [(None, "Compute busy.")]
    await quiet(client, path)
    first = await client.get(f"{path}/backups/{backup['id']}")
    assert first == {
        "id": backup["id"],
        "type": "snapshot",
        "status": "successful",
        "available": True,
        "created": backup["created"],
        "updated": first["finished"],
        "finished": first["finished"],
        "label": "first",
        "configs": ["My Debian 12 Disk Profile"],
        "disks": [
            {"size": 25088, "filesystem": "ext4", "label": "Debian 12 Disk"},
            {"size": 512, "filesystem": "swap", "label": "512 MB Swap Image"},
        ],
        "region": "us-lake",
    }

    second = await saved(client, path, "second")
    view = await client.get(f"{path}/backups")
    assert view == {"automatic": [], "snapshot": {"current": second, "in_progress": None}}
    assert (await client.send("GET", f"{path}/backups/{first['id']}")).status == 404


@pytest.mark.usefixtures("quick_retries")
async def test_a_snapshot_that_fails_leaves_the_one_before(client: Client, roost: Roost) -> None:
    path = await enabled(client)
    good = await saved(client, path)
    plan = engine_of(roost).plan
    await plan.fail("backup_save", "The host's disk is full")
    try:
        bad = await client.post(f"{path}/backups", {"label": "bad"})
        event = await quiet(client, path)
    finally:
        await plan.mend("backup_save")
    assert (event["status"], event["message"]) == ("failed", "The host's disk is full")
    assert (await client.get(f"{path}/backups/{bad['id']}"))["status"] == "failed"
    assert (await client.get(f"{path}/backups"))["snapshot"] == {
        "current": good,
        "in_progress": None,
    }
    held = {state.id for state in await engine_of(roost).backups.list()}
    assert good["id"] in held
    assert bad["id"] not in held
    await saved(client, path, "third")
    assert (await client.send("GET", f"{path}/backups/{bad['id']}")).status == 404


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, ("label", "label is required")),
        ({"label": ""}, ("label", "Length must be 1-255 characters")),
        ({"label": "x" * 256}, ("label", "Length must be 1-255 characters")),
        ({"label": "fine"}, (None, "Backups are not enabled.")),
    ],
)
async def test_snapshots_that_are_refused(client: Client, body: Json, problem: Json) -> None:
    path = path_of(await made(client))
    assert (await client.send("POST", f"{path}/backups", body)).problems == [problem]
    assert (await client.send("POST", f"{path}/backups/cancel")).problems == [
        (None, "Backups are not enabled.")
    ]
    assert await client.get(f"{path}/backups") == NONE


async def test_enabled_again_while_they_are_cancelled(client: Client, roost: Roost) -> None:
    """The schedule is the new one, so that backups are made."""
    path = await enabled(client)
    await saved(client, path)
    async with paused(roost, "backup_delete"):
        await client.post(f"{path}/backups/cancel")
        await client.post(f"{path}/backups/enable")
    await quiet(client, path)
    backups = (await client.get(path))["backups"]
    assert backups["schedule"] == {"day": "Scheduling", "window": "Scheduling"}
    assert (backups["enabled"], backups["available"]) == (True, False)


async def test_there_must_be_something_to_save(client: Client) -> None:
    row = await client.post(INSTANCES, {"type": "g1-nano-1", "region": "us-lake"})
    path = path_of(row)
    await quiet(client, path)
    await client.post(f"{path}/backups/enable")
    answer = await client.send("POST", f"{path}/backups", {"label": "nothing"})
    assert answer.problems == [(None, "The Compute has no disks to back up.")]


async def test_restore_in_place(client: Client, roost: Roost) -> None:
    path = await enabled(client)
    await powered(client, path, "boot")
    await mark(client, roost, path, "before")
    backup = await saved(client, path)
    assert (await client.get(path))["status"] == "running"
    await mark(client, roost, path, "after")
    old = {row["id"] for row in (await client.get(f"{path}/disks"))["data"]}

    body = {"compute_id": _id(path), "overwrite": True}
    assert await client.post(f"{path}/backups/{backup['id']}/restore", body) == {}
    event = await quiet(client, path)
    assert (event["action"], event["status"]) == ("backups_restore", "finished")
    assert (await client.get(path))["status"] == "offline"
    assert (await contents(client, roost, path))[0] == "before"
    rows = (await client.get(f"{path}/disks"))["data"]
    assert not old & {row["id"] for row in rows}
    assert [row["label"] for row in rows] == ["Debian 12 Disk", "512 MB Swap Image"]
    [config] = (await client.get(f"{path}/configs"))["data"]
    assert config["label"] == "My Debian 12 Disk Profile"
    assert config["devices"]["sda"] == {"disk_id": rows[0]["id"], "volume_id": None}
    assert config["devices"]["sdb"] == {"disk_id": rows[1]["id"], "volume_id": None}
    assert (await powered(client, path, "boot"))["status"] == "running"


async def test_restore_beside_what_another_one_has(client: Client, roost: Roost) -> None:
    source, _ = await roomy(client)
    await client.post(f"{source}/backups/enable")
    await mark(client, roost, source, "kept")
    backup = await saved(client, source)
    target, before = await roomy(client)
    body = {"compute_id": _id(target)}
    await client.post(f"{source}/backups/{backup['id']}/restore", body)
    await quiet(client, target)
    rows = (await client.get(f"{target}/disks"))["data"]
    assert rows[:2] == before
    assert [row["size"] for row in rows[2:]] == [row["size"] for row in backup["disks"]]
    assert "kept" in await contents(client, roost, target)
    assert len((await client.get(f"{target}/configs"))["data"]) == 2
    assert (await client.get(target))["status"] == "offline"


@pytest.mark.usefixtures("quick_retries")
async def test_a_restore_that_fails(client: Client, roost: Roost) -> None:
    path, before = await roomy(client)
    await client.post(f"{path}/backups/enable")
    backup = await saved(client, path)
    plan = engine_of(roost).plan
    await plan.fail("backup_restore", "The host's disk is full")
    try:
        body = {"compute_id": _id(path)}
        await client.post(f"{path}/backups/{backup['id']}/restore", body)
        event = await quiet(client, path)
    finally:
        await plan.mend("backup_restore")
    assert (event["status"], event["message"]) == ("failed", "The host's disk is full")
    assert (await client.get(path))["status"] == "offline"
    assert (await client.get(f"{path}/disks"))["data"] == before
    assert len((await client.get(f"{path}/configs"))["data"]) == 1


async def test_restores_that_are_refused(client: Client) -> None:
    path = await enabled(client)
    backup = await saved(client, path)
    restore = f"{path}/backups/{backup['id']}/restore"
    full = "Insufficient space for this disk: 0 MB of 25600 MB are free"
    far = path_of(await made(client, region="br-south"))
    for body, problem in (
        ({}, ("compute_id", "compute_id is required")),
        ({"compute_id": 999_999_999}, ("compute_id", "compute_id is not valid")),
        ({"compute_id": _id(path)}, (None, full)),
        (
            {"compute_id": _id(far), "overwrite": True},
            ("compute_id", "Backup and Compute must be in the same region."),
        ),
    ):
        assert (await client.send("POST", restore, body)).problems == [problem]
    other = f"{far}/backups/{backup['id']}/restore"
    answer = await client.send("POST", other, {"compute_id": _id(far), "overwrite": True})
    assert answer.status == 404
    assert (await client.get(path))["status"] == "offline"


@pytest.mark.spec("B compute create backup", "B compute create booted")
async def test_an_instance_from_a_backup(client: Client, roost: Roost) -> None:
    path = await enabled(client)
    await mark(client, roost, path, "copied")
    backup = await saved(client, path)
    body = {"type": "g1-nano-1", "region": "us-lake", "backup_id": backup["id"]}
    new = path_of(await client.post(INSTANCES, body))
    row = await until(lambda: client.get(new), lambda found: found["status"] == "running")
    assert row["image"] is None
    assert (await contents(client, roost, new))[0] == "copied"
    rows = (await client.get(f"{new}/disks"))["data"]
    [config] = (await client.get(f"{new}/configs"))["data"]
    assert config["devices"]["sda"]["disk_id"] == rows[0]["id"]
    actions = [event["action"] for event in await events(client, new)]
    assert actions == ["compute_boot", "compute_create"]
    quieter = path_of(await client.post(INSTANCES, {**body, "booted": False}))
    await quiet(client, quieter)
    assert (await client.get(quieter))["status"] == "offline"


@pytest.mark.usefixtures("quick_retries")
async def test_an_instance_that_a_backup_does_not_make(client: Client, roost: Roost) -> None:
    path = await enabled(client)
    backup = await saved(client, path)
    plan = engine_of(roost).plan
    await plan.fail("backup_restore", "The host's disk is full")
    try:
        body = {"type": "g1-nano-1", "region": "us-lake", "backup_id": backup["id"]}
        new = path_of(await client.post(INSTANCES, body))
        event = await quiet(client, new)
    finally:
        await plan.mend("backup_restore")
    assert (event["action"], event["status"]) == ("compute_create", "failed")
    assert (await client.get(new))["status"] == "offline"
    assert (await client.get(f"{new}/disks"))["data"] == []
    answer = await client.send("POST", f"{new}/boot")
    assert answer.status == 400


@pytest.mark.spec("B compute create backup", "B compute create backup region")
async def test_backups_that_make_no_instance(
    client: Client, stranger: Client, roost: Roost
) -> None:
    path = await enabled(client, type="g1-nano-1", region="us-lake")
    backup_id = (await saved(client, path))["id"]
    base = {"type": "g1-nano-1", "region": "us-lake", "backup_id": backup_id}
    image = create_body(backup_id=backup_id)
    assert image["root_pass"] == PASSWORD
    for body, problem in (
        (image, ("backup_id", "backup_id cannot be given with an image")),
        ({**base, "backup_id": 999_999_999}, ("backup_id", "backup_id is not valid")),
        ({**base, "region": "br-south"}, ("backup_id", "The backup is in another region")),
    ):
        assert (await client.send("POST", INSTANCES, body)).problems == [problem]
    answer = await stranger.send("POST", INSTANCES, base)
    assert answer.problems == [("backup_id", "backup_id is not valid")]


async def test_backups_from_the_start(client: Client) -> None:
    assert (await made(client, backups_enabled=True))["backups"]["enabled"]
    assert not (await made(client))["backups"]["enabled"]
    await client.put("/account/settings", {"backups_enabled": True})
    assert (await made(client))["backups"]["enabled"]


async def test_automatic_backups_in_their_window(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = rules.window_at(roost.clock.now())
    monkeypatch.setattr(rules, "window_at", lambda now: opened)
    window = opened[0]
    closed = "W0" if window == "W12" else "W12"
    now, later = await enabled(client), await enabled(client)
    await client.put(now, {"backups": {"schedule": {"window": window}}})
    await client.put(later, {"backups": {"schedule": {"window": closed}}})
    for _ in range(2):
        await _run_due(roost)
        await quiet(client, now)
    view = await client.get(f"{now}/backups")
    [backup] = view["automatic"]
    assert (backup["type"], backup["status"], backup["label"]) == ("auto", "successful", None)
    assert view["snapshot"] == NONE["snapshot"]
    assert await client.get(f"{later}/backups") == NONE
    [event] = [e for e in await events(client, now) if e["action"] == "compute_snapshot"]
    assert event["username"] is None


async def _run_due(roost: Roost) -> None:
    queue = roost.services.get(JobQueue)
    async with roost.store.transaction() as db:
        job = await queue.enqueue(db, DUE, DueArgs())
    await until(
        lambda: queue.find(roost.store, job.id), lambda found: bool(found and found.finished)
    )


async def test_backups_go_with_their_instance(client: Client, roost: Roost) -> None:
    path = await enabled(client)
    backup_id = (await saved(client, path))["id"]
    await client.delete(path)

    async def held() -> set[int]:
        return {state.id for state in await engine_of(roost).backups.list()}

    await until(held, lambda ids: backup_id not in ids)


async def test_a_deletion_that_fails_shows_no_backup_that_is_gone(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    path = await enabled(client)
    backup_id = (await saved(client, path))["id"]
    await engine_of(roost).backups.delete(backup_id)
    async with failing(roost, "backup_delete", "The host's disk cannot be read"):
        await client.delete(path)
        assert (await quiet(client, path))["status"] == "failed"
    assert (await client.get(path))["status"] == "offline"
    assert await client.get(f"{path}/backups") == NONE


@pytest.mark.spec("B compute create backups")
async def test_the_accounts_settings_go_before_the_body(client: Client) -> None:
    await client.put("/account/settings", {"backups_enabled": True})
    assert (await made(client, backups_enabled=False))["backups"]["enabled"] is True


@pytest.mark.spec("B compute create backup successful")
@pytest.mark.usefixtures("quick_retries")
async def test_a_backup_that_failed_makes_no_instance(client: Client, roost: Roost) -> None:
    path = await enabled(client)
    async with failing(roost, "backup_save", "The host's disk is full"):
        backup = await client.post(f"{path}/backups", {"label": "bad"})
        assert (await quiet(client, path))["status"] == "failed"
    body = {"type": "g1-nano-1", "region": "us-lake", "backup_id": backup["id"]}
    answer = await client.send("POST", INSTANCES, body)
    assert answer.problems == [("backup_id", "The backup is not successful")]
