"""Every field of the bodies of configs: what is accepted, and each reason why not."""

import pytest

from tests.support.client import Client, Json
from tests.support.disks import path_of
from tests.support.instances import made

ID = f"Must be 1-{2**63 - 1}"
ONE = "Must name either a disk_id or a volume_id"
LABEL = "Length must be 1-48 characters"
ROOTS = "Must be one of " + ", ".join(f"/dev/sd{letter}" for letter in "abcdefgh")
MODES = "Must be one of paravirt, fullvirt"
LEVELS = "Must be one of default, single, binbash"
MEGABYTES = f"Must be 0-{2**31 - 1}"
BOOLEAN = "Must be true or false"

SHARED: list[tuple[Json, str, str]] = [
    ({"label": ""}, "label", LABEL),
    ({"label": "x" * 49}, "label", LABEL),
    ({"label": 5}, "label", "Must be a string"),
    ({"kernel": "roost/none"}, "kernel", "kernel is not valid"),
    ({"kernel": ""}, "kernel", "kernel is not valid"),
    ({"kernel": 6}, "kernel", "Must be a string"),
    ({"comments": 5}, "comments", "Must be a string"),
    ({"comments": "x" * 65536}, "comments", "Length must be 0-65535 characters"),
    ({"memory_limit": -1}, "memory_limit", MEGABYTES),
    ({"memory_limit": 2**31}, "memory_limit", MEGABYTES),
    ({"memory_limit": "5"}, "memory_limit", "Must be an integer"),
    ({"run_level": "3"}, "run_level", LEVELS),
    ({"run_level": 3}, "run_level", LEVELS),
    ({"virt_mode": "hvm"}, "virt_mode", MODES),
    ({"root_device": "/dev/sdi"}, "root_device", ROOTS),
    ({"root_device": "sda"}, "root_device", ROOTS),
    ({"root_device": ""}, "root_device", ROOTS),
    ({"root_device": 1}, "root_device", "Must be a string"),
    ({"helpers": []}, "helpers", "Must be an object"),
    ({"helpers": {"network": "yes"}}, "helpers.network", BOOLEAN),
    ({"helpers": {"distro": 1}}, "helpers.distro", BOOLEAN),
    ({"interfaces": {}}, "interfaces", "Must be an array"),
    ({"interfaces": [{}]}, "interfaces[0].purpose", "purpose is required"),
    ({"interfaces": [{"purpose": "vlan"}]}, "interfaces[0].label", "label is required"),
    (
        {"interfaces": [{"purpose": "public"}, {"purpose": "public"}]},
        "interfaces",
        "At most one interface may be public",
    ),
    (
        {"interfaces": [{"purpose": "vlan", "label": f"v{n}"} for n in range(4)]},
        "interfaces",
        "Length must be 1-3 items",
    ),
    ({"devices": []}, "devices", "Must be an object"),
    ({"devices": {"sda": 5}}, "devices.sda", "Must be an object"),
    ({"devices": {"sda": {}}}, "devices.sda", ONE),
    ({"devices": {"sdh": {"disk_id": None, "volume_id": None}}}, "devices.sdh", ONE),
    ({"devices": {"sda": {"disk_id": 1, "volume_id": 1}}}, "devices.sda", ONE),
    ({"devices": {"sda": {"disk_id": 0}}}, "devices.sda.disk_id", ID),
    ({"devices": {"sda": {"disk_id": "1"}}}, "devices.sda.disk_id", "Must be an integer"),
    ({"devices": {"sda": {"volume_id": -1}}}, "devices.sda.volume_id", ID),
    ({"devices": {"sda": {"disk_id": 7}}}, "devices.sda.disk_id", "disk_id is not valid"),
    ({"devices": {"sdb": {"volume_id": 7}}}, "devices", "Volume 7 does not exist"),
    (
        {"devices": {"sda": {"disk_id": 7}, "sdc": {"disk_id": 7}}},
        "devices",
        "A disk or volume can be at one slot only",
    ),
]

REQUIRED: list[tuple[Json, str, str]] = [
    ({"devices": {}}, "label", "label is required"),
    ({"label": None, "devices": {}}, "label", "label is required"),
    ({"label": "x"}, "devices", "devices is required"),
    ({"label": "x", "devices": None}, "devices", "devices is required"),
]

ACCEPTED: list[Json] = [
    {"label": "x"},
    {"label": "x" * 48},
    {"comments": "x" * 65535, "memory_limit": 2**31 - 1},
    {"comments": None, "memory_limit": None, "interfaces": None, "helpers": None},
    {"run_level": None, "virt_mode": None, "kernel": None, "root_device": None},
    {"root_device": "/dev/sdh", "run_level": "binbash", "virt_mode": "fullvirt"},
    {"interfaces": [], "helpers": {}},
    {"helpers": {"network": None, "more": 1}, "more": 1},
    {"devices": {"sdz": {"disk_id": 1}, "sda": None}},
]


async def test_creation_that_is_refused(client: Client) -> None:
    path = f"{path_of(await made(client))}/configs"
    before = await client.get(path)
    cases = [({"label": "x", "devices": {}, **body}, *rest) for body, *rest in SHARED]
    for body, field, reason in (*cases, *REQUIRED):
        answer = await client.send("POST", path, body)
        assert (answer.status, answer.problems) == (400, [(field, reason)]), body
    assert await client.get(path) == before


async def test_change_that_is_refused(client: Client) -> None:
    path = f"{path_of(await made(client))}/configs"
    before = (await client.get(path))["data"][0]
    for body, field, reason in SHARED:
        answer = await client.send("PUT", f"{path}/{before['id']}", body)
        assert (answer.status, answer.problems) == (400, [(field, reason)]), body
    assert await client.get(f"{path}/{before['id']}") == before


@pytest.mark.parametrize("body", ACCEPTED, ids=lambda body: str(body)[:60])
async def test_accepted(client: Client, body: Json) -> None:
    path = f"{path_of(await made(client))}/configs"
    created = await client.post(path, {"label": "second", "devices": {}, **body})
    shown = {
        key: value
        for key, value in body.items()
        if value is not None and key not in ("devices", "helpers", "more")
    }
    assert {key: created[key] for key in shown} == shown
    changed = await client.put(f"{path}/{created['id']}", body)
    assert {**changed, "updated": ""} == {**created, "updated": ""}


async def test_all_problems_come_together(client: Client) -> None:
    path = f"{path_of(await made(client))}/configs"
    body = {"label": "", "devices": {"sda": {}}, "run_level": "x", "helpers": {"network": 1}}
    answer = await client.send("POST", path, body)
    assert answer.problems == [
        ("label", LABEL),
        ("devices.sda", ONE),
        ("run_level", LEVELS),
        ("helpers.network", BOOLEAN),
    ]
    wrong = {slot: {"disk_id": number} for number, slot in enumerate(("sda", "sdb"), 1)}
    answer = await client.send("POST", path, {"label": "x", "devices": wrong})
    assert answer.problems == [
        (f"devices.{slot}.disk_id", "disk_id is not valid") for slot in ("sda", "sdb")
    ]


async def test_fullvirt_has_four_slots(client: Client) -> None:
    path = path_of(await made(client))
    [root, _] = (await client.get(f"{path}/disks"))["data"]
    beyond = {"sde": {"disk_id": root["id"]}}
    reason = "A fullvirt config has no devices beyond sdd"
    body = {"label": "x", "virt_mode": "fullvirt", "devices": beyond}
    answer = await client.send("POST", f"{path}/configs", body)
    assert answer.problems == [("devices.sde", reason)]
    row = await client.post(f"{path}/configs", {**body, "virt_mode": "paravirt"})
    one = f"{path}/configs/{row['id']}"
    for change, field in (
        ({"virt_mode": "fullvirt"}, "virt_mode"),
        ({"virt_mode": "fullvirt", "devices": beyond}, "devices.sde"),
    ):
        answer = await client.send("PUT", one, change)
        assert answer.problems == [(field, reason)]
    assert await client.get(one) == row
    moved = {"virt_mode": "fullvirt", "devices": {"sdd": beyond["sde"]}}
    assert (await client.put(one, moved))["virt_mode"] == "fullvirt"
    answer = await client.send("PUT", one, {"devices": beyond})
    assert answer.problems == [("devices.sde", reason)]


async def test_disks_of_others(client: Client, stranger: Client) -> None:
    path, other = path_of(await made(client)), path_of(await made(client))
    foreign = path_of(await made(stranger))
    for who, where in ((client, other), (stranger, foreign)):
        [root, _] = (await who.get(f"{where}/disks"))["data"]
        body = {"label": "x", "devices": {"sda": {"disk_id": root["id"]}}}
        answer = await client.send("POST", f"{path}/configs", body)
        assert answer.problems == [("devices.sda.disk_id", "disk_id is not valid")]
