"""Restores lose nothing before they are whole, and need rights on both instances."""

import pytest

from roost.app.roost import Roost
from roost.core.grant_queries import give
from tests.api.conftest import Account, NewToken, NewUser
from tests.api.test_backups import contents, enabled, mark, saved
from tests.support.client import Client, until
from tests.support.disks import engine_of, path_of, powered, quiet
from tests.support.instances import INSTANCES, made
from tests.support.volumes import attached, failing, made_volume, paused, plugged


@pytest.mark.usefixtures("quick_retries")
async def test_one_that_fails_leaves_what_runs(client: Client, roost: Roost) -> None:
    path = await enabled(client)
    backup = await saved(client, path)
    await powered(client, path, "boot")
    await mark(client, roost, path, "precious")
    before = (await client.get(f"{path}/disks"))["data"], await client.get(f"{path}/configs")
    compute_id = int(path.rpartition("/")[2])
    async with failing(roost, "backup_restore", "The host's disk is full"):
        body = {"compute_id": compute_id, "overwrite": True}
        await client.post(f"{path}/backups/{backup['id']}/restore", body)
        event = await quiet(client, path)
    assert (event["status"], event["message"]) == ("failed", "The host's disk is full")
    assert (await client.get(path))["status"] == "running"
    guest = await engine_of(roost).inspect(compute_id)
    assert guest is not None
    assert guest.power == "running"
    assert (await contents(client, roost, path))[0] == "precious"
    assert before == (
        (await client.get(f"{path}/disks"))["data"],
        await client.get(f"{path}/configs"),
    )


async def test_volumes_of_what_is_overwritten(client: Client, roost: Roost) -> None:
    """They are no part of a backup: those of one boot go, the others stay."""
    path = await enabled(client, type="g1-standard-4")
    backup, compute_id = await saved(client, path), int(path.rpartition("/")[2])
    await powered(client, path, "boot")
    labels = ("lasting", "brief")
    lasting, brief = [(await made_volume(client, label=each))["id"] for each in labels]
    await attached(client, lasting, compute_id)
    await attached(client, brief, compute_id, persist_across_boots=False)
    body = {"compute_id": compute_id, "overwrite": True}
    await client.post(f"{path}/backups/{backup['id']}/restore", body)
    assert (await quiet(client, path))["status"] == "finished"
    kept = [(await client.get(f"/volumes/{each}"))["compute_id"] for each in (lasting, brief)]
    assert kept == [compute_id, None]
    assert await plugged(roost, lasting) is None
    await powered(client, path, "boot")
    assert await plugged(roost, lasting) == compute_id


async def test_a_backup_that_goes_meanwhile(client: Client, roost: Roost) -> None:
    """Its own instance may go at any time."""
    source, target = await enabled(client), await enabled(client)
    backup = await saved(client, source)
    await mark(client, roost, target, "precious")
    body = {"compute_id": int(target.rpartition("/")[2]), "overwrite": True}
    async with paused(roost, "backup_restore"):
        await client.post(f"{source}/backups/{backup['id']}/restore", body)
        await client.delete(source)
        assert (await quiet(client, target))["status"] == "failed"
    assert (await client.get(target))["status"] == "offline"
    assert (await contents(client, roost, target))[0] == "precious"


async def test_the_config_of_the_last_boot(client: Client) -> None:
    """A backup with several configs boots with the one that its instance ran with."""
    path = await enabled(client)
    [config] = (await client.get(f"{path}/configs"))["data"]
    devices = {"sda": config["devices"]["sda"]}
    for label in ("second", "third"):
        await client.post(f"{path}/configs", {"label": label, "devices": devices})
    second = (await client.get(f"{path}/configs"))["data"][1]
    await powered(client, path, "boot", {"config_id": second["id"]})
    backup = await saved(client, path)
    body = {"type": "g1-nano-1", "region": "us-lake", "backup_id": backup["id"]}
    new = path_of(await client.post(INSTANCES, body))
    await until(lambda: client.get(new), lambda row: row["status"] == "running")
    assert (await quiet(client, new))["secondary_entity"]["label"] == "second"
    assert len((await client.get(f"{new}/configs"))["data"]) == 3


@pytest.mark.spec("B compute create backup grant")
async def test_rights(
    nobody: Client,
    client: Client,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    """`read_write` on the backup's instance (spec B, Create body fields); backups are secret."""
    path = await enabled(client)
    backup, other = await saved(client, path), await made(client)
    user = await new_user(account, restricted=True)
    await client.put(f"/account/users/{user.username}/grants", {"global": {"add_computes": True}})
    limited, source_id = nobody.as_user(await new_token(user)), int(path.rpartition("/")[2])
    body = {"type": "g1-nano-1", "region": "us-lake", "backup_id": backup["id"]}
    restore = f"{path}/backups/{backup['id']}/restore"
    for held in (None, "read_only"):
        if held is not None:
            await give(roost.store, user.user_id, "compute", source_id, "read_only")
        for backup_id in (backup["id"], 999_999_999):
            answer = await limited.send("POST", INSTANCES, {**body, "backup_id": backup_id})
            assert answer.status == 403
        assert (await limited.send("POST", restore, {"compute_id": source_id})).status == 403
    await give(roost.store, user.user_id, "compute", source_id, "read_write")
    for compute_id in (other["id"], 999_999_999):
        into = {"compute_id": compute_id, "overwrite": True}
        assert (await limited.send("POST", restore, into)).status == 403
    row = await limited.post(INSTANCES, body)
    await quiet(client, path_of(row))
