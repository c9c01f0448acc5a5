"""Every field of the bodies of what happens to whole instances: each reason why not."""

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.support.client import Client, Json
from tests.support.disks import path_of
from tests.support.instances import PASSWORD, held, made

IMAGE: Json = {"image": "roost/debian12", "root_pass": PASSWORD}
NEW: Json = {"region": "us-lake", "type": "g1-nano-1"}
ID = f"Must be 1-{2**63 - 1}"
WEAK = "Password does not meet strength requirement"
LONG = "Length must be 7-128 characters"
PLAN = "A valid plan type by that ID was not found"
STACKSCRIPT = "stackscript_data needs a stackscript_id"
USERS = "Each must be a user of the account with stored SSH keys"
DEVICE = "Must name either a disk_id or a volume_id"
ONLY_NEW = "Must be left out when cloning to an existing Compute"
LABEL = "Length must be 3-64 characters"

Refused = tuple[str, Json, str, str]

REBUILD: list[Refused] = [
    ("rebuild", {"root_pass": PASSWORD}, "image", "You must specify an image"),
    ("rebuild", {**IMAGE, "image": None}, "image", "You must specify an image"),
    ("rebuild", {**IMAGE, "image": ""}, "image", "image is not valid"),
    ("rebuild", {**IMAGE, "image": "roost/none"}, "image", "image is not valid"),
    ("rebuild", {**IMAGE, "image": 12}, "image", "Must be a string"),
    ("rebuild", {"image": "roost/debian12"}, "root_pass", "root_pass is required"),
    ("rebuild", {**IMAGE, "root_pass": None}, "root_pass", "root_pass is required"),
    ("rebuild", {**IMAGE, "root_pass": "short"}, "root_pass", LONG),
    ("rebuild", {**IMAGE, "root_pass": "x" * 129}, "root_pass", LONG),
    ("rebuild", {**IMAGE, "root_pass": "password1"}, "root_pass", WEAK),
    ("rebuild", {**IMAGE, "root_pass": 7}, "root_pass", "Must be a string"),
    ("rebuild", {**IMAGE, "authorized_keys": "x"}, "authorized_keys", "Must be an array"),
    ("rebuild", {**IMAGE, "authorized_users": ["no-one"]}, "authorized_users", USERS),
    ("rebuild", {**IMAGE, "authorized_users": [1]}, "authorized_users[0]", "Must be a string"),
    ("rebuild", {**IMAGE, "booted": "yes"}, "booted", "Must be true or false"),
    ("rebuild", {**IMAGE, "metadata": "x"}, "metadata", "Must be an object"),
    (
        "rebuild",
        {**IMAGE, "metadata": {"user_data": "%"}},
        "metadata.user_data",
        "Must be base64-encoded",
    ),
    ("rebuild", {**IMAGE, "stackscript_id": 7}, "stackscript_id", "stackscript_id is not valid"),
    ("rebuild", {**IMAGE, "stackscript_data": {"a": "b"}}, "stackscript_data", STACKSCRIPT),
    ("rebuild", {**IMAGE, "type": "none"}, "type", PLAN),
    ("rebuild", {**IMAGE, "type": 4}, "type", "Must be a string"),
    ("rebuild", {**IMAGE, "type": "g1-gpu-rtx-1"}, "type", PLAN),
]
RESCUE: list[Refused] = [
    ("rescue", {"devices": []}, "devices", "Must be an object"),
    ("rescue", {"devices": {"sda": 5}}, "devices.sda", "Must be an object"),
    ("rescue", {"devices": {"sda": {}}}, "devices.sda", DEVICE),
    ("rescue", {"devices": {"sda": {"disk_id": 1, "volume_id": 1}}}, "devices.sda", DEVICE),
    ("rescue", {"devices": {"sdb": {"disk_id": 0}}}, "devices.sdb.disk_id", ID),
    ("rescue", {"devices": {"sdb": {"disk_id": "1"}}}, "devices.sdb.disk_id", "Must be an integer"),
    ("rescue", {"devices": {"sda": {"disk_id": 1}}}, "devices.sda.disk_id", "disk_id is not valid"),
    (
        "rescue",
        {"devices": {"sdg": {"volume_id": 1}}},
        "devices.sdg.volume_id",
        "volume_id is not valid",
    ),
    (
        "rescue",
        {"devices": {"sda": {"disk_id": 1}, "sdb": {"disk_id": 1}}},
        "devices",
        "A disk or volume can be at one slot only",
    ),
    (
        "rescue",
        {"devices": {"sdh": {"disk_id": 1}}},
        "devices.sdh",
        "sdh is reserved for the rescue system",
    ),
]
RESIZE: list[Refused] = [
    ("resize", {}, "type", "type is required"),
    ("resize", {"type": None}, "type", "type is required"),
    ("resize", {"type": "none"}, "type", PLAN),
    ("resize", {"type": ""}, "type", PLAN),
    ("resize", {"type": 4}, "type", "Must be a string"),
    (
        "resize",
        {"type": "g1-standard-1", "allow_auto_disk_resize": "no"},
        "allow_auto_disk_resize",
        "Must be true or false",
    ),
    (
        "resize",
        {"type": "g1-standard-1", "migration_type": "hot"},
        "migration_type",
        "Must be one of warm, cold",
    ),
    ("mutate", {"allow_auto_disk_resize": 1}, "allow_auto_disk_resize", "Must be true or false"),
]
NOT_PENDING = "There is no pending migration for this Compute: name a region"
MIGRATE: list[Refused] = [
    ("migrate", {}, "region", NOT_PENDING),
    ("migrate", {"region": None}, "region", NOT_PENDING),
    ("migrate", {"region": "nowhere"}, "region", "region is not valid"),
    ("migrate", {"region": ""}, "region", "region is not valid"),
    ("migrate", {"region": 5}, "region", "Must be a string"),
    ("migrate", {"region": "us-lake"}, "region", "Compute is already in this region"),
    ("migrate", {"region": "br-south", "type": "hot"}, "type", "Must be one of warm, cold"),
    ("migrate", {"region": "br-south", "upgrade": "no"}, "upgrade", "Must be true or false"),
    (
        "migrate",
        {"upgrade": True},
        "upgrade",
        "Needs a region; in its own one a Compute is upgraded by mutate",
    ),
]
OWN = -1
"""Stands for the instance itself."""

CLONE: list[Refused] = [
    ("clone", {"type": "g1-nano-1"}, "region", "region is required"),
    ("clone", {"region": "us-lake"}, "type", "type is required"),
    ("clone", {**NEW, "region": "nowhere"}, "region", "region is not valid"),
    (
        "clone",
        {**NEW, "region": "br-south"},
        "region",
        "Must be the region of the Compute that is cloned",
    ),
    ("clone", {**NEW, "type": "none"}, "type", PLAN),
    (
        "clone",
        {**NEW, "type": "g1-micro-1"},
        "type",
        "The disks need 25600 MB, the plan has 5120 MB",
    ),
    ("clone", {**NEW, "label": "ab"}, "label", LABEL),
    ("clone", {**NEW, "label": 5}, "label", "Must be a string"),
    ("clone", {**NEW, "group": "x" * 256}, "group", "Length must be 0-255 characters"),
    ("clone", {**NEW, "backups_enabled": "x"}, "backups_enabled", "Must be true or false"),
    ("clone", {**NEW, "disks": 5}, "disks", "Must be an array"),
    ("clone", {**NEW, "disks": ["5"]}, "disks[0]", "Must be an integer"),
    ("clone", {**NEW, "disks": [0]}, "disks[0]", ID),
    ("clone", {**NEW, "disks": [1]}, "disks[0]", "Must be one of the disks of the Compute"),
    ("clone", {**NEW, "configs": [1]}, "configs[0]", "Must be one of the configs of the Compute"),
    ("clone", {**NEW, "private_ip": 1}, "private_ip", "Must be true or false"),
    ("clone", {**NEW, "metadata": []}, "metadata", "Must be an object"),
    ("clone", {"compute_id": 0}, "compute_id", ID),
    ("clone", {"compute_id": "5"}, "compute_id", "Must be an integer"),
    ("clone", {"compute_id": 999_999_999}, "compute_id", "compute_id is not valid"),
    ("clone", {"compute_id": OWN, "region": "us-lake"}, "region", ONLY_NEW),
    ("clone", {"compute_id": OWN, "type": "g1-nano-1"}, "type", ONLY_NEW),
    ("clone", {"compute_id": OWN, "label": "copy"}, "label", ONLY_NEW),
    ("clone", {"compute_id": OWN, "group": "g"}, "group", ONLY_NEW),
    ("clone", {"compute_id": OWN, "backups_enabled": True}, "backups_enabled", ONLY_NEW),
    ("clone", {"compute_id": OWN, "private_ip": True}, "private_ip", ONLY_NEW),
    ("clone", {"compute_id": OWN, "metadata": {"user_data": "eA=="}}, "metadata", ONLY_NEW),
]
SECRET: list[Refused] = [
    ("password", {}, "root_pass", "root_pass is required"),
    ("password", {"root_pass": None}, "root_pass", "root_pass is required"),
    ("password", {"root_pass": "short"}, "root_pass", LONG),
    ("password", {"root_pass": "password1"}, "root_pass", WEAK),
    ("password", {"root_pass": 7}, "root_pass", "Must be a string"),
]


@pytest.mark.parametrize(
    ("action", "body", "field", "reason"), [*REBUILD, *RESCUE, *RESIZE, *MIGRATE, *CLONE, *SECRET]
)
async def test_refused(
    client: Client, roost: Roost, account: Account, action: str, body: Json, field: str, reason: str
) -> None:
    """Nothing has changed then."""
    path = path_of(await made(client))
    row, before = await client.get(path), await held(roost, account.id)
    if body.get("compute_id") == OWN:
        body = {**body, "compute_id": row["id"]}
    answer = await client.send("POST", f"{path}/{action}", body)
    assert (answer.status, answer.problems) == (400, [(field, reason)])
    assert await held(roost, account.id) == before
    assert await client.get(path) == row
    assert {d["status"] for d in (await client.get(f"{path}/disks"))["data"]} == {"ready"}


async def test_all_errors_together(client: Client) -> None:
    path = path_of(await made(client))
    body = {"image": "x", "root_pass": "short", "booted": 5, "type": "none"}
    answer = await client.send("POST", f"{path}/rebuild", body)
    assert [field for field, _ in answer.problems] == ["image", "root_pass", "booted", "type"]
    body = {"disks": [0, "x"], "label": "x", "private_ip": 7}
    answer = await client.send("POST", f"{path}/clone", body)
    fields = ["region", "type", "label", "disks[0]", "disks[1]", "private_ip"]
    assert [field for field, _ in answer.problems] == fields


ACCEPTED: list[tuple[str, Json]] = [
    ("rebuild", {**IMAGE, "booted": None, "authorized_keys": None, "authorized_users": []}),
    ("rebuild", {**IMAGE, "booted": False, "type": "g1-nano-1", "unknown": 1}),
    ("rebuild", {**IMAGE, "booted": False, "metadata": {"user_data": "eA=="}}),
    ("rebuild", {**IMAGE, "booted": False, "metadata": None, "type": "g1-micro-1"}),
    ("rescue", {}),
    ("rescue", {"devices": None}),
    ("rescue", {"devices": {}}),
    ("rescue", {"devices": {"sda": None, "sdh": None}}),
    ("resize", {"type": "g1-standard-1", "migration_type": "warm"}),
    ("resize", {"type": "g1-standard-1", "migration_type": None, "allow_auto_disk_resize": None}),
    ("clone", {**NEW, "disks": None, "configs": None, "private_ip": None, "metadata": None}),
    ("clone", {**NEW, "disks": [], "configs": [], "label": "x-1", "group": ""}),
    ("clone", {**NEW, "metadata": {"user_data": "eA=="}, "private_ip": True}),
    ("password", {"root_pass": "x7 \u00fc-Tangerine"}),
]


@pytest.mark.parametrize(("action", "body"), ACCEPTED)
async def test_accepted(client: Client, action: str, body: Json) -> None:
    await client.post(f"{path_of(await made(client))}/{action}", body)
