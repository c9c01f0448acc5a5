"""What may be asked for while work on an instance or a volume is under way, as a table.

`queued` is accepted and done in its turn, `at once` is done although the work goes on, `busy` is
refused, as it contradicts the work (docs/decisions/0026).
"""

from contextlib import AsyncExitStack
from typing import Literal

import pytest

from roost.app.roost import Roost
from roost.core.turns import MAX_WAITING
from roost.engines.simulated.plane import Operation
from roost.jobs.kinds import Retry
from tests.api.conftest import Account
from tests.support.client import Answer, Client, Json, until
from tests.support.disks import engine_of, events, path_of, quiet
from tests.support.instances import INSTANCES, PASSWORD, create_body, made
from tests.support.volumes import (
    VOLUMES,
    attached,
    failing,
    made_volume,
    paused,
    plugged,
    rested,
    running_instance,
    volume_body,
    volume_engine,
    volume_events,
)

Outcome = Literal["queued", "at once", "busy"]

BUSY = [(None, "Compute busy.")]
IMAGE: Json = {"image": "roost/debian12", "root_pass": PASSWORD}
PLAN = "g1-standard-4"
LARGER = "g1-standard-6"

WORK: dict[str, tuple[Operation, str, Json]] = {
    "boot": ("start", "/boot", {}),
    "reboot": ("start", "/reboot", {}),
    "shutdown": ("stop", "/shutdown", {}),
    "rebuild": ("stop", "/rebuild", IMAGE),
    "resize": ("disk_resize", "/resize", {"type": LARGER}),
    "clone": ("disk_copy", "/clone", {"region": "us-lake", "type": PLAN}),
    "snapshot": ("backup_save", "/backups", {"label": "now"}),
    "restore": ("backup_restore", "", None),
}
"""What is under way, the call of the engine in which it is held, and how it is asked for."""

WHOLE = ("rebuild", "rescue", "resize", "mutate", "clone", "restore", "password", "disk password")
POWER = ("boot", "reboot", "shutdown")
WAITS = (*POWER, "disk", "snapshot", "attach", "detach")
PARTS = ("disk", "attach", "device", "config", "config update", "interface", "interface update")
ROWS = ("config", "config update", "interface", "interface update", "rename", "enable", "device")


def outcome(work: str, request: str) -> Outcome:
    """The table of docs/decisions/0026, by rows."""
    if work == "clone" and request == "clone":
        return "at once"
    if request in WHOLE:
        return "busy"
    if work in ("rebuild", "restore") and request in PARTS:
        return "busy"
    if work == "resize" and request in ("attach", "device"):
        return "busy"
    return "queued" if request in WAITS else "at once"


class Scene:
    """An instance with a config, a volume that it has, two that it could have, and a backup."""

    def __init__(self, client: Client, row: Json, volumes: list[Json], backup: int) -> None:
        self.client = client
        self.path = path_of(row)
        self.id = row["id"]
        self.held, self.free, self.device = volumes
        self.backup = backup
        self.disk = self.config = self.interface = self.other = 0

    async def look(self) -> None:
        self.disk = (await self.client.get(f"{self.path}/disks"))["data"][0]["id"]
        config = (await self.client.get(f"{self.path}/configs"))["data"][0]
        self.config, one = config["id"], f"{self.path}/configs/{config['id']}/interfaces"
        found = await self.client.get(one)
        new = {"purpose": "public"}
        self.interface = (found[0] if found else await self.client.post(one, new))["id"]

    async def begin(self, work: str) -> None:
        _, target, body = WORK[work]
        if work == "restore":
            target = f"/backups/{self.backup}/restore"
            body = {"compute_id": self.id, "overwrite": True}
        await self.client.post(f"{self.path}{target}", body)

    async def ask(self, request: str) -> Answer:
        path, config = self.path, f"{self.path}/configs/{self.config}"
        new = {"label": "new", "devices": {}}
        device = {"label": "device", "devices": {"sda": {"volume_id": self.device["id"]}}}
        method, target, body = {
            "disk": ("POST", f"{path}/disks", {"label": "more", "size": 1}),
            "snapshot": ("POST", f"{path}/backups", {"label": "later"}),
            "attach": (
                "POST",
                f"{VOLUMES}/{self.free['id']}/attach",
                {"compute_id": self.id, "config_id": self.config},
            ),
            "detach": ("POST", f"{VOLUMES}/{self.held['id']}/detach", None),
            "config": ("POST", f"{path}/configs", new),
            "device": ("POST", f"{path}/configs", device),
            "config update": ("PUT", config, {"comments": "new"}),
            "interface": ("POST", f"{config}/interfaces", {"purpose": "vlan", "label": "x"}),
            "interface update": ("PUT", f"{config}/interfaces/{self.interface}", {"primary": True}),
            "rename": ("PUT", path, {"label": "renamed"}),
            "enable": ("POST", f"{path}/backups/enable", None),
            "rebuild": ("POST", f"{path}/rebuild", IMAGE),
            "resize": ("POST", f"{path}/resize", {"type": LARGER}),
            "clone": ("POST", f"{path}/clone", {"compute_id": self.other, "configs": []}),
            "restore": (
                "POST",
                f"{path}/backups/{self.backup}/restore",
                {"compute_id": self.id},
            ),
            "password": ("POST", f"{path}/password", {"root_pass": PASSWORD}),
            "disk password": (
                "POST",
                f"{path}/disks/{self.disk}/password",
                {"password": PASSWORD},
            ),
        }.get(request, ("POST", f"{path}/{request}", {}))
        return await self.client.send(method, target, body)


async def scene(client: Client, runs: bool) -> Scene:
    new = running_instance if runs else made
    row = await new(client, type=PLAN, backups_enabled=True)
    volumes = [await made_volume(client, label=f"v{number}") for number in range(3)]
    await attached(client, volumes[0]["id"], row["id"])
    path = path_of(row)
    [root, _] = (await client.get(f"{path}/disks"))["data"]
    if runs:
        await client.post(f"{path}/shutdown")
        await quiet(client, path)
    await client.post(f"{path}/disks/{root['id']}/resize", {"size": 3000})
    backup = await client.post(f"{path}/backups", {"label": "before"})
    if runs:
        await client.post(f"{path}/boot", {})
    await quiet(client, path)
    found = Scene(client, row, volumes, backup["id"])
    await found.look()
    found.other = (await made(client, type=PLAN))["id"]
    return found


@pytest.mark.parametrize("work", WORK)
async def test_the_table(client: Client, roost: Roost, account: Account, work: str) -> None:
    runs = work not in ("boot", "restore")
    stage = await scene(client, runs)
    wanted = (*WHOLE, *ROWS, *WAITS)
    async with paused(roost, WORK[work][0]):
        await stage.begin(work)
        before = (await client.get(stage.path))["status"]
        said = {request: await stage.ask(request) for request in wanted}
        # The work is what it was: nothing that waits shows anything yet.
        assert (await client.get(stage.path))["status"] == before
        for request, answer in said.items():
            busy = outcome(work, request) == "busy"
            assert (answer.problems == BUSY) is busy, (request, answer.body)
            assert busy or answer.status == 200, (request, answer.body)
    await quiet(client, stage.path)
    await until(lambda: busy_jobs(roost, account), lambda count: count == 0)
    statuses = {row["action"]: row["status"] for row in await events(client, stage.path)}
    assert "failed" not in statuses.values(), statuses
    assert (await client.get(stage.path))["status"] == "offline"
    row = await client.get(f"{VOLUMES}/{stage.held['id']}")
    assert (row["compute_id"], await plugged(roost, row["id"])) == (None, None)
    free = await client.get(f"{VOLUMES}/{stage.free['id']}")
    assert (free["compute_id"] == stage.id) is (outcome(work, "attach") == "queued")


VOLUME_WORK: dict[str, Operation] = {
    "create": "volume_create",
    "be cloned": "volume_copy",
    "clone": "volume_copy",
    "resize": "volume_resize",
    "attach": "volume_plug",
    "detach": "volume_unplug",
}
ATTACHED, NOT_ATTACHED = "is already attached", "Volume is not attached."
NOT_ACTIVE = "Volume is not active."
KEPT = "Volume must be detached before it can be deleted."
VOLUME_TABLE: dict[str, dict[str, str | None]] = {
    "create": {"detach": NOT_ATTACHED, "resize": NOT_ACTIVE, "clone": NOT_ACTIVE},
    "be cloned": {"detach": NOT_ATTACHED},
    "clone": {"detach": NOT_ATTACHED, "resize": NOT_ACTIVE, "clone": NOT_ACTIVE},
    "resize": {"detach": NOT_ATTACHED, "resize": NOT_ACTIVE, "clone": NOT_ACTIVE},
    "attach": {"attach": ATTACHED, "delete": KEPT},
    "detach": {"attach": ATTACHED},
}
"""What is refused, and why; everything else is queued, or at once."""


async def begin_volume_work(client: Client, work: str, compute_id: int) -> Json:
    """The volume on which it is done."""
    if work == "create":
        return await client.post(VOLUMES, volume_body())
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    if work == "detach":
        await client.post(f"{path}/attach", {"compute_id": compute_id})
        await rested(client, volume["id"])
    bodies: dict[str, Json] = {
        "be cloned": {"label": "copy"},
        "clone": {"label": "copy"},
        "resize": {"size": 30},
        "attach": {"compute_id": compute_id},
    }
    action = "clone" if work == "be cloned" else work
    answer = await client.post(f"{path}/{action}", bodies.get(work))
    return answer if work == "clone" else volume


@pytest.mark.parametrize("request_", ["attach", "detach", "resize", "clone", "delete"])
@pytest.mark.parametrize("work", VOLUME_WORK)
@pytest.mark.spec(
    "A volume status",
    "A volumes delete",
    "A volumes resize",
    "A volumes resize status",
    "A volumes clone status",
    "A errors 5 status",
)
async def test_the_table_of_volumes(
    client: Client, roost: Roost, account: Account, work: str, request_: str
) -> None:
    instance = await running_instance(client)
    async with paused(roost, VOLUME_WORK[work]):
        volume = await begin_volume_work(client, work, instance["id"])
        path = f"{VOLUMES}/{volume['id']}"
        status = (await client.get(path))["status"]
        method, target, body = {
            "attach": ("POST", f"{path}/attach", {"compute_id": instance["id"]}),
            "resize": ("POST", f"{path}/resize", {"size": 50}),
            "clone": ("POST", f"{path}/clone", {"label": "another"}),
            "delete": ("DELETE", path, None),
        }.get(request_, ("POST", f"{path}/detach", None))
        answer = await client.send(method, target, body)
        refusal = VOLUME_TABLE[work].get(request_)
        if refusal is not None:
            assert answer.status == 400
            assert refusal in answer.problems[0][1]
        elif request_ == "delete":
            assert answer.status == 200, answer.body
            assert (await client.send("GET", path)).status == 404
        else:
            assert answer.status == 200, answer.body
            shown = await client.get(path)
            assert shown["status"] == status
            grown = 50 if request_ == "resize" else volume["size"] + 10 * (work == "resize")
            assert shown["size"] == grown
    await until(lambda: busy_jobs(roost, account), lambda count: count == 0)
    if refusal is None:
        await check_end(client, roost, work, request_, volume["id"])


async def check_end(client: Client, roost: Roost, work: str, request: str, volume_id: int) -> None:
    """What was asked for came true, after the work that it followed."""
    told = dict(await volume_events(client, volume_id))
    engine = volume_engine(roost)
    if request == "delete":
        assert told["volume_delete"] == "finished"
        assert await engine.inspect(volume_id) is None
        copies = [row for row in (await client.get(VOLUMES))["data"] if row["label"] == "copy"]
        assert len(copies) == (1 if work == "be cloned" else 0)
        return
    assert "failed" not in told.values()
    row, state = await client.get(f"{VOLUMES}/{volume_id}"), await engine.inspect(volume_id)
    assert state is not None
    assert (row["status"], row["size"]) == ("active", state.size)
    kept = request == "attach" or (work == "attach" and request != "detach")
    assert (row["compute_id"] is not None, state.compute_id == row["compute_id"]) == (kept, True)
    if request == "clone":
        rows = (await client.get(VOLUMES))["data"]
        [copy] = [each for each in rows if each["label"] == "another"]
        assert (copy["status"], copy["size"]) == ("active", row["size"])


async def test_right_after_a_create(client: Client, roost: Roost, account: Account) -> None:
    """What a client does that does not wait: everything comes true, in its order."""
    async with paused(roost, "disk_make", "volume_create"):
        row = await client.post(INSTANCES, create_body(type=PLAN, booted=True))
        path = path_of(row)
        volume = await client.post(VOLUMES, volume_body(compute_id=row["id"]))
        other = await client.post(VOLUMES, volume_body(label="other"))
        await client.post(f"{VOLUMES}/{other['id']}/attach", {"compute_id": row["id"]})
        await client.post(f"{path}/reboot", {})
        assert (await client.get(path))["status"] == "provisioning"
    await until(lambda: busy_jobs(roost, account), lambda count: count == 0)
    assert (await client.get(path))["status"] == "running"
    for each in (volume, other):
        assert await plugged(roost, each["id"]) == row["id"]
        assert (await client.get(f"{VOLUMES}/{each['id']}"))["status"] == "active"


@pytest.mark.parametrize(("request_", "ends"), [("boot", "running"), ("shutdown", "offline")])
async def test_power_asked_for_during_a_create(
    client: Client, roost: Roost, account: Account, request_: str, ends: str
) -> None:
    """It takes the place of the boot that would have come."""
    async with paused(roost, "disk_make"):
        path = path_of(await client.post(INSTANCES, create_body(booted=True)))
        await client.post(f"{path}/{request_}")
    await until(lambda: busy_jobs(roost, account), lambda count: count == 0)
    assert (await client.get(path))["status"] == ends
    told = [(row["action"], row["status"]) for row in await events(client, path)]
    assert told == [(f"compute_{request_}", "finished"), ("compute_create", "finished")]


async def test_what_follows_something_that_fails(
    client: Client, roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A boot fails: a shutdown has nothing to do then, and a reboot cannot be done."""
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    path = path_of(await made(client))
    async with AsyncExitStack() as faults:
        async with paused(roost, "start"):
            await client.post(f"{path}/boot", {})
            await client.post(f"{path}/shutdown")
            await client.post(f"{path}/reboot", {})
            # Not before: what fails does so at once, and takes no time.
            await faults.enter_async_context(failing(roost, "start", "no such kernel"))
        await until(lambda: busy_jobs(roost, account), lambda count: count == 0)
    rows = await events(client, path)
    assert [(row["action"], row["status"]) for row in rows[:3]] == [
        ("compute_reboot", "failed"),
        ("compute_shutdown", "finished"),
        ("compute_boot", "failed"),
    ]
    assert rows[0]["message"] == "Compute is not running."
    assert (await client.get(path))["status"] == "offline"


async def test_what_follows_a_volume_that_is_not_made(
    client: Client, roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = await running_instance(client)
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    async with AsyncExitStack() as faults:
        async with paused(roost, "volume_create"):
            volume = await client.post(VOLUMES, volume_body())
            path = f"{VOLUMES}/{volume['id']}"
            await client.post(f"{path}/attach", {"compute_id": instance["id"]})
            await faults.enter_async_context(failing(roost, "volume_create", "the disk is full"))
        await until(lambda: busy_jobs(roost, account), lambda count: count == 0)
    assert (await client.get(VOLUMES))["results"] == 0
    page = await client.get("/account/events", filter={"entity.type": "volume"})
    told = {row["action"]: (row["status"], row["message"]) for row in page["data"]}
    assert told["volume_create"] == ("failed", "the disk is full")
    assert told["volume_attach"] == ("failed", "The volume is gone.")
    stuck = "select count(*) from job where account_id = $1 and undo_error is not null"
    assert await roost.store.fetchval(stuck, account.id) == 0


async def test_a_clone_of_a_volume_that_does_not_grow(
    client: Client, roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the size that its record says, and that its source was to have; both wait until the
    source is attached, which is active as long as its resize waits."""
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    volume, instance = await made_volume(client), await running_instance(client)
    path = f"{VOLUMES}/{volume['id']}"
    async with paused(roost, "volume_plug"):
        await client.post(f"{path}/attach", {"compute_id": instance["id"]})
        await engine_of(roost).plan.fail("volume_resize", "the disk is full", calls=4)
        await client.post(f"{path}/resize", {"size": 60})
        copy = await client.post(f"{path}/clone", {"label": "copy"})
    await until(lambda: busy_jobs(roost, account), lambda count: count == 0)
    assert (await client.get(path))["size"] == 20
    assert (await client.get(f"{VOLUMES}/{copy['id']}"))["size"] == 60
    state = await volume_engine(roost).inspect(copy["id"])
    assert state is not None
    assert state.size == 60


async def test_no_more_than_so_many_wait(client: Client, roost: Roost, account: Account) -> None:
    path = path_of(await made(client))
    async with paused(roost, "start"):
        answers = [await client.send("POST", f"{path}/boot", {}) for _ in range(MAX_WAITING + 1)]
        assert [answer.status for answer in answers] == [200] * MAX_WAITING + [400]
        assert answers[-1].problems == BUSY
    await until(lambda: busy_jobs(roost, account), lambda count: count == 0)
    assert {row["status"] for row in await events(client, path)} == {"finished"}
    assert (await client.get(path))["status"] == "running"


async def busy_jobs(roost: Roost, account: Account) -> int:
    count: int = await roost.store.fetchval(
        "select count(*) from job where account_id = $1 and finished is null", account.id
    )
    return count
