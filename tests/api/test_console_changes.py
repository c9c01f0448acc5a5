"""Forms of the console that change instances as a whole: what they say before, and what they do."""

import html
import re

import pytest

from tests.support.browser import Browser
from tests.support.client import Client, Json, until
from tests.support.disks import path_of, quiet
from tests.support.volumes import made_volume, running_instance

INSTANCES = "/compute/instances"


@pytest.fixture
async def instance(client: Client) -> Json:
    """One that runs, and of which nothing is in work."""
    made = await running_instance(client, type="g1-standard-2", label="shop")
    await quiet(client, path_of(made))
    return made


async def test_plans_are_beside_the_one_that_there_is(
    client: Client, user_browser: Browser, instance: Json
) -> None:
    path = f"{INSTANCES}/{instance['id']}"
    page = await user_browser.get(f"/console{path}/resize", do="resize_instance")
    assert "It is powered off, and booted again" in page.text
    cells = re.findall(r'data-title="Than now">(.*?)</td>', page.text)
    assert cells.count("<strong>this one</strong>") == 1
    assert any(each.startswith("\N{MINUS SIGN}$") for each in cells)
    assert any(each.startswith("+$") for each in cells)
    assert "type" not in page.forms[-1].fields
    refused = await user_browser.submit(page, -1)
    assert refused.status == 400
    assert 'id="f-type-wrong"' in refused.text
    priced = await user_browser.submit(page, -1, type="g1-standard-4", preview="yes")
    assert "a month at most" in priced.text
    assert re.search(r'value="g1-standard-4" checked', priced.text)
    assert (await user_browser.submit(page, -1, type="g1-standard-4")).status == 303
    await until(lambda: client.get(path), lambda found: found["type"] == "g1-standard-4")


async def test_a_rebuild_names_what_is_lost(
    client: Client, user_browser: Browser, instance: Json
) -> None:
    await made_volume(client, label="kept", compute_id=instance["id"])
    path = f"/console{INSTANCES}/{instance['id']}/rebuild"
    page = await user_browser.get(path, do="rebuild_instance")
    disks = (await client.get(f"{INSTANCES}/{instance['id']}/disks"))["data"]
    for disk in disks:
        assert f"the disk <bdi>{disk['label']}</bdi>" in page.text
    assert "<bdi>kept</bdi>" in page.text
    wanted = {"image": "roost/debian12", "root_pass": "correct-Horse7battery"}
    assert (await user_browser.submit(page, -1, **wanted)).status == 400
    assert (await user_browser.submit(page, -1, **wanted, confirm="shop")).status == 303


async def test_a_config_is_chosen_by_what_it_boots(
    client: Client, user_browser: Browser, instance: Json
) -> None:
    path = f"{INSTANCES}/{instance['id']}"
    disk = (await client.get(f"{path}/disks"))["data"][0]
    body = {"label": "repairs", "devices": {"sda": {"disk_id": disk["id"]}}}
    config = await client.post(f"{path}/configs", body)
    page = await user_browser.get(f"/console{path}/reboot", do="reboot_instance")
    assert page.forms[-1].fields["config_id"] == ""
    assert "<bdi>repairs</bdi>" in page.text
    assert f'/disks/{disk["id"]}">{disk["label"]}</a>' in page.text
    shown = await user_browser.get(f"/console{path}/configs/{config['id']}")
    assert f"boot?do=boot_instance&amp;config_id={config['id']}" in shown.text
    done = await user_browser.submit(page, -1, config_id=str(config["id"]))
    assert done.status == 303


async def test_an_edited_config_keeps_its_other_devices(
    client: Client, user_browser: Browser, instance: Json
) -> None:
    path = f"{INSTANCES}/{instance['id']}"
    config = (await client.get(f"{path}/configs"))["data"][0]
    volume = await made_volume(client, compute_id=instance["id"], config_id=None)
    at = f"/console{path}/configs/{config['id']}"
    before = (await client.get(f"{path}/configs/{config['id']}"))["devices"]
    page = await user_browser.get(at, do="update_config")
    fields = {"devices.sdc.volume_id": "", "devices.sde.volume_id": str(volume["id"])}
    given = {**_chosen(before), **fields}
    assert (await user_browser.submit(page, -1, **given)).status == 303
    after = (await client.get(f"{path}/configs/{config['id']}"))["devices"]
    assert (after["sda"], after["sdb"]) == (before["sda"], before["sdb"])
    assert after["sdc"] is None
    assert after["sde"] == {"disk_id": None, "volume_id": volume["id"]}


def _chosen(devices: Json) -> dict[str, str]:
    """What the choices of a form say of these."""
    return {
        f"devices.{slot}.{kind}": str(number)
        for slot, device in devices.items()
        for kind, number in (device or {}).items()
        if number is not None
    }


async def test_a_rescue_leaves_out_the_slot_that_is_not_free(
    user_browser: Browser, instance: Json
) -> None:
    path = f"/console{INSTANCES}/{instance['id']}/rescue"
    page = await user_browser.get(path, do="rescue_instance")
    assert "/dev/sdg" in page.text
    assert "/dev/sdh" not in page.text
    assert (await user_browser.submit(page, -1)).status == 303


async def test_what_is_to_be_known_is_said_before(user_browser: Browser, instance: Json) -> None:
    for form, says in (
        ("clone?do=clone_instance", "To a new instance"),
        ("migrate?do=migrate_instance", "These are lost"),
        ("disks", "of its plan are taken"),
        ("configs?do=create_config", "/dev/sdh"),
    ):
        page = await user_browser.get(f"/console{INSTANCES}/{instance['id']}/{form}")
        assert page.status == 200
        assert says in html.unescape(page.text)
