"""Configs of instances over HTTP (reference: Config, operations)."""

import pytest

from roost.app.roost import Roost
from tests.support.client import Client, Json
from tests.support.disks import engine_of, events, path_of, powered, quiet, running
from tests.support.instances import INSTANCES, made
from tests.support.volumes import VOLUMES, made_volume, paused

HELPERS = {
    "updatedb_disabled": True,
    "distro": True,
    "modules_dep": True,
    "network": True,
    "devtmpfs_automount": True,
}
SLOTS = ("sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh")
EMPTY = dict.fromkeys(SLOTS)


def disk(disk_id: int) -> Json:
    return {"disk_id": disk_id, "volume_id": None}


async def parts(client: Client, **changes: object) -> tuple[str, Json, Json]:
    """The path of an instance that rests, its disks and its config."""
    path = path_of(await made(client, **changes))
    [config] = (await client.get(f"{path}/configs"))["data"]
    return path, (await client.get(f"{path}/disks"))["data"], config


@pytest.mark.spec("B compute 2")
async def test_an_image_gives_a_config(client: Client) -> None:
    path, [root, swap], config = await parts(client)
    assert config == {
        "id": config["id"],
        "label": "My Debian 12 Disk Profile",
        "kernel": "roost/latest-64bit",
        "comments": "",
        "memory_limit": 0,
        "run_level": "default",
        "virt_mode": "paravirt",
        "interfaces": [],
        "helpers": HELPERS,
        "devices": {**EMPTY, "sda": disk(root["id"]), "sdb": disk(swap["id"])},
        "root_device": "/dev/sda",
        "initrd": None,
        "created": config["created"],
        "updated": config["updated"],
    }
    assert await client.get(f"{path}/configs/{config['id']}") == config
    found = await client.get(f"{path}/configs", filter={"label": config["label"]})
    assert found["results"] == 1
    assert (await client.get(f"{path}/configs", filter={"label": "x"}))["results"] == 0


async def test_no_swap_leaves_its_slot_empty(client: Client) -> None:
    _, disks, config = await parts(client, swap_size=0)
    assert config["devices"] == {**EMPTY, "sda": disk(disks[0]["id"])}


async def test_create(client: Client) -> None:
    path, [root, swap], _ = await parts(client)
    body = {
        "label": "second",
        "devices": {"sda": disk(swap["id"]), "sdc": {"disk_id": root["id"]}, "sdb": None},
        "kernel": "roost/grub2",
        "comments": "for repairs",
        "memory_limit": 512,
        "run_level": "single",
        "virt_mode": "fullvirt",
        "root_device": "/dev/sdc",
        "helpers": {"distro": False},
        "interfaces": [{"purpose": "public", "primary": True}],
    }
    config = await client.post(f"{path}/configs", body)
    shown = ("label", "kernel", "comments", "memory_limit", "run_level", "virt_mode", "root_device")
    assert {key: config[key] for key in shown} == {key: body[key] for key in shown}
    assert config["helpers"] == {**HELPERS, "distro": False}
    assert config["devices"] == {**EMPTY, "sda": disk(swap["id"]), "sdc": disk(root["id"])}
    [interface] = config["interfaces"]
    assert (interface["purpose"], interface["primary"]) == ("public", True)
    assert (await client.get(f"{path}/configs"))["data"][1] == config
    event = (await events(client, path))[0]
    assert (event["action"], event["status"]) == ("compute_config_create", "notification")
    assert event["secondary_entity"] == {
        "id": config["id"],
        "label": "second",
        "type": "compute_config",
        "url": f"/v4{path}/configs/{config['id']}",
    }


async def test_the_account_decides_about_the_network_helper(client: Client) -> None:
    await client.put("/account/settings", {"network_helper": False})
    path, _, config = await parts(client)
    assert config["helpers"] == {**HELPERS, "network": False}
    other = await client.post(f"{path}/configs", {"label": "x", "devices": {}})
    assert other["helpers"] == {**HELPERS, "network": False}
    body = {"label": "y", "devices": {}, "helpers": {"network": True}}
    assert (await client.post(f"{path}/configs", body))["helpers"] == HELPERS


async def test_update(client: Client) -> None:
    path, [root, swap], config = await parts(client)
    one = f"{path}/configs/{config['id']}"
    same = await client.put(one, config)
    assert {**same, "updated": ""} == {**config, "updated": ""}
    again = await client.put(one, {})
    assert again == {**same, "updated": again["updated"]}
    changes = {
        "label": "main",
        "comments": "mine",
        "memory_limit": 256,
        "kernel": "roost/direct-disk",
        "run_level": "binbash",
        "virt_mode": "fullvirt",
        "root_device": "/dev/sdb",
    }
    changed = await client.put(one, {**changes, "helpers": {"network": False}})
    wanted = {**config, **changes, "helpers": {**HELPERS, "network": False}, "updated": ""}
    assert {**changed, "updated": ""} == wanted
    swapped = await client.put(one, {"devices": {"sda": disk(swap["id"])}})
    assert swapped["devices"] == {**EMPTY, "sda": disk(swap["id"])}
    back = await client.put(one, {"devices": {"sdb": disk(swap["id"]), "sda": disk(root["id"])}})
    assert back["devices"] == config["devices"]
    assert (await client.put(one, {"comments": ""}))["comments"] == ""
    event = (await events(client, path))[0]
    assert (event["action"], event["status"]) == ("compute_config_update", "notification")


async def test_delete(client: Client) -> None:
    path, _, config = await parts(client)
    assert await client.delete(f"{path}/configs/{config['id']}") == {}
    assert (await client.get(f"{path}/configs"))["data"] == []
    event = (await events(client, path))[0]
    assert (event["action"], event["secondary_entity"]["id"]) == (
        "compute_config_delete",
        config["id"],
    )
    answer = await client.send("POST", f"{path}/boot", {})
    assert answer.problems == [("config_id", "Compute has no configuration.")]


async def test_which_config_is_booted(client: Client) -> None:
    path, [root, _], first = await parts(client)
    await powered(client, path, "boot")
    event = await quiet(client, path)
    assert event["secondary_entity"]["id"] == first["id"]
    await powered(client, path, "shutdown")
    assert (await quiet(client, path))["secondary_entity"] is None
    body = {"label": "second", "devices": {"sda": disk(root["id"])}}
    second = await client.post(f"{path}/configs", body)
    for action, sent, expected in (
        ("boot", {}, first),
        ("reboot", {"config_id": second["id"]}, second),
        ("reboot", {}, second),
        ("reboot", {"config_id": first["id"]}, first),
    ):
        await powered(client, path, action, sent)
        event = await quiet(client, path)
        assert event["action"] == f"compute_{action}"
        assert event["secondary_entity"]["label"] == expected["label"]
    other = (await parts(client))[2]
    for wrong in (other["id"], 999_999_999):
        answer = await client.send("POST", f"{path}/reboot", {"config_id": wrong})
        assert answer.problems == [("config_id", "config_id is not valid")]
    await powered(client, path, "shutdown")
    await client.delete(f"{path}/configs/{first['id']}")
    await client.post(f"{path}/configs", {"label": "third", "devices": {}})
    answer = await client.send("POST", f"{path}/boot", {})
    reason = "config_id is required, as none of them was booted last"
    assert answer.problems == [("config_id", reason)]


async def test_a_config_with_nothing_to_boot_from(client: Client) -> None:
    path, _, config = await parts(client)
    await client.put(f"{path}/configs/{config['id']}", {"root_device": "/dev/sdh"})
    row = await powered(client, path, "boot")
    event = await quiet(client, path)
    assert (row["status"], event["status"]) == ("offline", "failed")
    assert event["message"] == "The instance has no disks to boot from"


async def test_memory_limit(client: Client, roost: Roost) -> None:
    path, _, config = await parts(client)
    compute_id = int(path.rpartition("/")[2])
    for limit, memory in ((512, 512), (4096, 1024), (0, 1024)):
        await client.put(f"{path}/configs/{config['id']}", {"memory_limit": limit})
        await powered(client, path, "boot")
        state = await engine_of(roost).inspect(compute_id)
        assert state is not None
        assert state.memory == memory
        await powered(client, path, "shutdown")


async def test_a_running_config_that_is_deleted(client: Client) -> None:
    path = await running(client)
    [config] = (await client.get(f"{path}/configs"))["data"]
    await client.delete(f"{path}/configs/{config['id']}")
    assert (await client.get(path))["status"] == "running"
    answer = await client.send("POST", f"{path}/reboot", {})
    assert answer.problems == [("config_id", "Compute has no configuration.")]
    assert (await powered(client, path, "shutdown"))["status"] == "offline"


async def test_volumes_at_slots(client: Client) -> None:
    path, [root, _], config = await parts(client)
    volume = await made_volume(client)
    one = f"{path}/configs/{config['id']}"
    devices = {"sda": disk(root["id"]), "sdc": {"volume_id": volume["id"]}}
    changed = await client.put(one, {"devices": devices})
    assert changed["devices"]["sdc"] == {"disk_id": None, "volume_id": volume["id"]}
    compute_id = int(path.rpartition("/")[2])
    assert (await client.get(f"{VOLUMES}/{volume['id']}"))["compute_id"] == compute_id
    same = await client.put(one, changed)
    assert same["devices"] == changed["devices"]
    await powered(client, path, "boot")
    assert (await quiet(client, path))["status"] == "finished"


async def test_what_is_not_there(client: Client, stranger: Client) -> None:
    path, _, config = await parts(client)
    other = path_of(await made(client))
    for who, where in ((client, other), (stranger, path), (client, f"{INSTANCES}/999999999")):
        one = f"{where}/configs/{config['id']}"
        for method, target, body in (
            ("GET", one, None),
            ("PUT", one, {}),
            ("DELETE", one, None),
            ("GET", f"{one}/interfaces", None),
            ("POST", f"{one}/interfaces", {"purpose": "public"}),
            ("POST", f"{one}/interfaces/order", {"ids": []}),
            ("GET", f"{one}/interfaces/1", None),
            ("PUT", f"{one}/interfaces/1", {}),
            ("DELETE", f"{one}/interfaces/1", None),
        ):
            assert (await who.send(method, target, body)).status == 404, (method, target)
    assert (await stranger.send("GET", f"{path}/configs")).status == 404
    answer = await stranger.send("POST", f"{path}/configs", {"label": "x", "devices": {}})
    assert answer.status == 404
    for method in ("GET", "PUT", "DELETE"):
        answer = await client.send(method, f"{path}/configs/{config['id']}/interfaces/1", {})
        assert answer.status == 404


async def test_changes_while_it_boots(client: Client, roost: Roost) -> None:
    """What configs say is read when a guest starts; the one that starts keeps its interfaces."""
    path, _, config = await parts(client)
    one = f"{path}/configs/{config['id']}"
    interface = await client.post(f"{one}/interfaces", {"purpose": "public"})
    async with paused(roost, "start"):
        await client.post(f"{path}/boot", {})
        new = await client.post(f"{path}/configs", {"label": "x", "devices": {}})
        assert (await client.put(one, {"comments": "now"}))["comments"] == "now"
        await client.post(f"{one}/interfaces", {"purpose": "vlan", "label": "x"})
        await client.put(f"{one}/interfaces/{interface['id']}", {"primary": True})
        answer = await client.send("DELETE", f"{one}/interfaces/{interface['id']}")
        reason = "The Compute runs with this config: shut it down first."
        assert answer.problems == [(None, reason)]
        await client.delete(f"{path}/configs/{new['id']}")
        assert (await client.get(path))["status"] == "booting"
    assert (await quiet(client, path))["status"] in ("finished", "notification")
    held = await client.get(f"{one}/interfaces")
    assert [each["primary"] for each in held] == [True, False]
