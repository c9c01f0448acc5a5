"""Every field of the bodies of disks: what is accepted, and each reason why not."""

import pytest

from tests.support.client import Client, Json
from tests.support.disks import path_of, quiet, roomy
from tests.support.instances import PASSWORD, made

IMAGE = {"image": "roost/debian12", "size": 2000, "root_pass": PASSWORD}
EMPTY = {"label": "data", "size": 10}
LABEL = "Length must be 1-48 characters"
SIZE = f"Must be 1-{2**31 - 1}"
KINDS = "Must be one of raw, swap, ext3, ext4, initrd"
STACKSCRIPT = "stackscript_data needs a stackscript_id"
WEAK = "Password does not meet strength requirement"

REFUSED: list[tuple[Json, str, str]] = [
    ({"size": 10}, "label", "label is required"),
    ({"size": 10, "label": None, "image": None}, "label", "label is required"),
    ({**EMPTY, "label": ""}, "label", LABEL),
    ({**EMPTY, "label": "x" * 49}, "label", LABEL),
    ({**EMPTY, "label": 5}, "label", "Must be a string"),
    ({"label": "data"}, "size", "size is required"),
    ({**EMPTY, "size": None}, "size", "size is required"),
    ({**EMPTY, "size": 0}, "size", SIZE),
    ({**EMPTY, "size": -5}, "size", SIZE),
    ({**EMPTY, "size": 2**31}, "size", SIZE),
    ({**EMPTY, "size": "10"}, "size", "Must be an integer"),
    ({**EMPTY, "size": 1.5}, "size", "Must be an integer"),
    ({**EMPTY, "size": True}, "size", "Must be an integer"),
    ({**EMPTY, "filesystem": "btrfs"}, "filesystem", KINDS),
    ({**EMPTY, "filesystem": "EXT4"}, "filesystem", KINDS),
    ({**EMPTY, "filesystem": 4}, "filesystem", KINDS),
    ({**IMAGE, "image": "roost/none"}, "image", "image is not valid"),
    ({**IMAGE, "image": ""}, "image", "image is not valid"),
    ({**IMAGE, "image": 12}, "image", "Must be a string"),
    ({**IMAGE, "size": 1799}, "size", "Must be at least 1800, the size of the image"),
    ({**IMAGE, "filesystem": "ext3"}, "filesystem", "Must be ext4 for a disk with an image"),
    ({"image": "roost/debian12", "size": 2000}, "root_pass", "root_pass is required"),
    ({**IMAGE, "root_pass": None}, "root_pass", "root_pass is required"),
    ({**IMAGE, "root_pass": "short"}, "root_pass", "Length must be 7-128 characters"),
    ({**IMAGE, "root_pass": "x" * 129}, "root_pass", "Length must be 7-128 characters"),
    ({**IMAGE, "root_pass": "password1"}, "root_pass", WEAK),
    ({**IMAGE, "root_pass": 7}, "root_pass", "Must be a string"),
    (
        {**IMAGE, "authorized_keys": ["nonsense"]},
        "authorized_keys[0]",
        "Must be an SSH public key in OpenSSH format",
    ),
    ({**IMAGE, "authorized_keys": "x"}, "authorized_keys", "Must be an array"),
    (
        {**IMAGE, "authorized_users": ["nobody-at-all"]},
        "authorized_users",
        "Each must be a user of the account with stored SSH keys",
    ),
    ({**IMAGE, "stackscript_id": 7}, "stackscript_id", "stackscript_id is not valid"),
    ({**EMPTY, "stackscript_data": {"a": ""}}, "stackscript_data", STACKSCRIPT),
    ({**EMPTY, "stackscript_data": []}, "stackscript_data", "Must be an object"),
]

ACCEPTED: list[Json] = [
    {"label": "x", "size": 1, "filesystem": "raw"},
    {"label": "x" * 48, "size": 10},
    {"label": " caf\u00e9 / % ", "size": 10, "filesystem": None, "root_pass": None},
    {**IMAGE, "size": 1800},
    {**IMAGE, "label": "mine", "filesystem": "ext4", "authorized_users": []},
]

LABELS = [("", LABEL), ("x" * 49, LABEL), (5, "Must be a string"), (["x"], "Must be a string")]
PASSWORDS = [
    (None, "password is required"),
    ("short", "Length must be 7-128 characters"),
    ("x" * 129, "Length must be 7-128 characters"),
    ("password1", WEAK),
    (123456789, "Must be a string"),
]
SIZES = [
    (None, "size is required"),
    (0, SIZE),
    (-1, SIZE),
    (2**31, SIZE),
    ("5", "Must be an integer"),
    (1.5, "Must be an integer"),
]


async def test_creation_that_is_refused(client: Client) -> None:
    path, before = await roomy(client)
    for body, field, reason in REFUSED:
        answer = await client.send("POST", f"{path}/disks", body)
        assert (answer.status, answer.problems) == (400, [(field, reason)]), body
    assert (await client.get(f"{path}/disks"))["data"] == before


async def test_all_problems_come_together(client: Client) -> None:
    path, _ = await roomy(client)
    body = {"image": "none", "size": 0, "label": "", "filesystem": "x", "root_pass": "password1"}
    answer = await client.send("POST", f"{path}/disks", body)
    assert answer.problems == [
        ("image", "image is not valid"),
        ("size", SIZE),
        ("label", LABEL),
        ("filesystem", KINDS),
        ("root_pass", WEAK),
    ]


@pytest.mark.parametrize("body", ACCEPTED, ids=str)
async def test_creation_that_is_accepted(client: Client, body: Json) -> None:
    path, _ = await roomy(client)
    disk = await client.post(f"{path}/disks", body)
    shown = {key: value for key, value in body.items() if key in disk and value is not None}
    assert {key: disk[key] for key in shown} == shown
    assert (await quiet(client, path))["status"] == "finished"


async def test_the_other_bodies(client: Client) -> None:
    path = path_of(await made(client))
    before = (await client.get(f"{path}/disks"))["data"]
    one = f"{path}/disks/{before[0]['id']}"
    for label, reason in LABELS:
        answer = await client.send("PUT", one, {"label": label})
        assert answer.problems == [("label", reason)]
    for size, reason in SIZES:
        answer = await client.send("POST", f"{one}/resize", {"size": size})
        assert answer.problems == [("size", reason)]
    for password, reason in PASSWORDS:
        answer = await client.send("POST", f"{one}/password", {"password": password})
        assert answer.problems == [("password", reason)]
    assert (await client.get(f"{path}/disks"))["data"] == before
