"""A whole cloud in use: one server, real engines, three accounts that do everything at once.

Each part alone has tests of its own. What is looked at here is what is between them, and what the
server is like afterwards: its log, its memory, its open files, its children.
"""

import asyncio
import itertools
import json
import sys
from functools import partial
from pathlib import Path

import pytest

from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import SETTLE_SECONDS, settled
from tests.e2e.cloud import Cloud
from tests.e2e.local_catalog import write_catalog
from tests.e2e.region import Region, opened_region
from tests.e2e.users import (
    DATABASES,
    SHARED,
    VOLUMES,
    User,
    change_rules,
    guard,
    pass_on,
    use_bucket,
    use_database,
    use_guest,
    use_zone,
)
from tests.support import state_table
from tests.support.client import Json, until
from tests.support.instances import INSTANCES
from tests.support.payments import added

pytestmark = [pytest.mark.qemu, pytest.mark.mariadb, pytest.mark.powerdns, pytest.mark.seaweedfs]

_SECONDS = 60.0
"""For which all is used; longer where something was refused all the time."""
_MEMORY = 600 << 20
_FILES = 400
_CHILDREN = 60
"""Bounds of the server: bytes, open files, and processes, those of PostgreSQL among them."""
_EXPLAINED = frozenset[str]()
"""Warnings of the log that such use may bring."""


@pytest.mark.timeout(1500)
async def test_three_accounts_use_everything_at_once(tmp_path: Path) -> None:
    async with opened_region(tmp_path, MINI, job_lease=10) as region:
        write_catalog(tmp_path / "catalog.toml", region.host.pools, region.image, everything=True)
        s3 = await _start(region.cloud)
        users = await _users(region.cloud, s3)
        await _use(region, users)
        for user in users:
            sys.stdout.write(f"{user.name}: {user.done}\n")
            failed = [row for row in await user.rest() if row["status"] == "failed"]
            assert failed == []
        await settled(region.cloud)
        _check_server(region.cloud)
        checked = region.cloud.command("fsck", "--state", str(region.cloud.state))
        assert checked.returncode == 0, checked.stdout
        _check_log(region.cloud.log)
        assert state_table.unnamed(region.cloud.state) == []


async def _start(cloud: Cloud) -> str:
    """The URL of the region's buckets, as `roost serve` prints it."""
    cloud.server = await cloud.launch("serve")
    while "S3 at " not in (line := await cloud.server.said("local ")):
        pass
    cloud.url = await cloud.server.said("roost ready ")
    return line.partition("S3 at ")[2].split()[0]


async def _users(cloud: Cloud, s3: str) -> list[User]:
    admin = await cloud.client()
    users = [User("first", admin, s3)]
    for name in ("second", "third"):
        done = cloud.command("account", "create", "--email", f"{name}@example.org")
        assert done.returncode == 0, done.stderr
        told = dict(line.split(" ", 1) for line in done.stdout.strip().splitlines())
        users.append(User(name, admin.as_user(told["token"]), s3))
    for user in users:
        await added(user.client)
    return users


async def _use(region: Region, users: list[User]) -> None:
    end = asyncio.get_running_loop().time() + _SECONDS
    wanderer = await _made(region, users[0], "wanderer", booted=False)
    async with asyncio.TaskGroup() as group:
        for user in users:
            group.create_task(user.again(partial(use_bucket, user, SHARED), end))
            group.create_task(
                user.again(partial(use_bucket, user, f"own-{user.name}"), end, "bucket")
            )
            group.create_task(user.again(partial(use_zone, user), end, "zone"))
            group.create_task(_use_guest(region, user, end))
        group.create_task(_use_database(users[1], end))
        group.create_task(_wander(users, wanderer, end))


async def _made(region: Region, user: User, label: str, **more: object) -> int:
    """A new instance, when it rests."""
    compute_id = int((await user.client.post(INSTANCES, region.body(label, **more)))["id"])
    await user.settled("compute", compute_id)
    return compute_id


async def _use_guest(region: Region, user: User, end: float) -> None:
    compute_id = await _made(region, user, user.name)
    firewall = await guard(user, compute_id)
    body = {"label": f"data-{user.name}", "size": 10, "region": "local"}
    volume = await user.client.post(VOLUMES, body)
    await user.settled("volume", volume["id"])
    await asyncio.gather(
        user.again(partial(use_guest, user, compute_id, volume["id"]), end, "reboot", "attach"),
        user.again(partial(change_rules, user, firewall["id"]), end, "rules"),
    )


async def _wander(users: list[User], compute_id: int, end: float) -> None:
    for number in itertools.count():
        owner, heir = users[number % len(users)], users[(number + 1) % len(users)]
        await pass_on(owner, heir, compute_id)
        if asyncio.get_running_loop().time() > end:
            return


async def _use_database(user: User, end: float) -> None:
    body = {
        "label": "orders",
        "region": "local",
        "type": "g1-nano-1",
        "engine": "mysql/10.11",
    }
    row = await user.client.post(DATABASES, body)

    async def view() -> Json:
        return await user.client.get(f"{DATABASES}/{row['id']}")

    found = await until(view, lambda row: row["status"] != "provisioning", SETTLE_SECONDS)
    assert found["status"] == "active"
    await user.again(partial(use_database, user, row["id"]), end)


def _check_server(cloud: Cloud) -> None:
    assert cloud.server is not None
    assert cloud.server.running
    process = Path(f"/proc/{cloud.server.pid}")
    status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
    memory = int(status["VmRSS"].split()[0]) << 10
    files = len(list((process / "fd").iterdir()))
    children = [
        int(pid)
        for task in (process / "task").iterdir()
        for pid in (task / "children").read_text().split()
    ]
    sys.stdout.write(f"memory {memory >> 20} MiB, {files} files, {len(children)} children\n")
    assert memory < _MEMORY
    assert files < _FILES
    assert len(children) < _CHILDREN


def _check_log(log: Path) -> None:
    """JSON alone, and nothing that a person would have to look at."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    wrong = [
        line
        for line in lines
        if line["level"] not in ("debug", "info") and line["event"] not in _EXPLAINED
    ]
    assert wrong == []
