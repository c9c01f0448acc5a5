"""Every field of every body of volumes: its type, what it accepts, what it refuses."""

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.support.client import Client, Json
from tests.support.instances import OMITTED, held, made
from tests.support.volumes import VOLUMES, attached, made_volume, rested, volume_body

pytestmark = pytest.mark.spec("A volumes create", "A limits volume label", "A errors 5")

LENGTH = "Length must be 1-32 characters"
FIRST = "Must begin with a letter"
ONLY = "Must only use ASCII letters, numbers, underscores, and dashes"
TWICE = "Must not have two dashes or two underscores in a row"
SIZE = "Must be 10-10240"
ID = f"Must be 1-{2**63 - 1}"

WRONG_TYPES: dict[str, tuple[tuple[str, ...], tuple[object, ...]]] = {
    "Must be a string": (("label", "region"), (5, True, 1.5, [], {})),
    "Must be an integer": (("size", "compute_id", "config_id"), ("5", True, 1.5, [], {})),
    "Must be an array": (("tags",), ("x", 1, True, {})),
}

LABELS = [
    (OMITTED, "label is required"),
    (None, "label is required"),
    ("", LENGTH),
    ("x" * 33, LENGTH),
    ("1data", FIRST),
    ("-data", FIRST),
    ("_data", FIRST),
    (" data", FIRST),
    ("my data", ONLY),
    ("data.1", ONLY),
    ("data/1", ONLY),
    ("data\n", ONLY),
    ("d\u00e4ta", ONLY),
    ("my--data", TWICE),
    ("my__data", TWICE),
]

REFUSED = [
    *(("label", *pair) for pair in LABELS),
    ("size", 9, SIZE),
    ("size", 0, SIZE),
    ("size", -20, SIZE),
    ("size", 10241, SIZE),
    ("size", 2**62, SIZE),
    ("region", "", "region is not valid"),
    ("region", "nowhere", "region is not valid"),
    ("region", "US-LAKE", "region is not valid"),
    ("region", "us-lake ", "region is not valid"),
    ("compute_id", 0, ID),
    ("compute_id", -1, ID),
    ("compute_id", 999_999_999, "compute_id is not valid"),
    ("config_id", 5, "config_id needs a compute_id"),
    ("config_id", 0, ID),
    ("tags", ["ab"], "Length must be 3-50 characters"),
    ("tags", ["x" * 51], "Length must be 3-50 characters"),
    ("tags", [5], "Must be a string"),
]

ACCEPTED = [
    ("label", "a"),
    ("label", "x" * 32),
    ("label", "Data_1-x"),
    ("size", 10),
    ("size", 10240),
    ("size", None),
    ("region", "br-south"),
    ("compute_id", None),
    ("config_id", None),
    ("tags", []),
    ("tags", None),
    ("tags", ["abc", "x" * 50, "caf\u00e9 au lait"]),
    ("unknown", {"what": "ever"}),
]


@pytest.mark.spec("A volume size")
@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        (field, value, reason)
        for reason, (fields, values) in WRONG_TYPES.items()
        for field in fields
        for value in values
    ],
)
async def test_wrong_types(client: Client, field: str, value: object, reason: str) -> None:
    answer = await client.send("POST", VOLUMES, volume_body(**{field: value}))
    assert (answer.status, answer.problems) == (400, [(field, reason)])


@pytest.mark.spec("A volumes create label")
@pytest.mark.parametrize(("field", "value", "reason"), REFUSED)
async def test_refused(
    client: Client, roost: Roost, account: Account, field: str, value: object, reason: str
) -> None:
    before = await held(roost, account.id)
    answer = await client.send("POST", VOLUMES, volume_body(**{field: value}))
    where = f"{field}[0]" if field == "tags" else field
    assert (answer.status, answer.problems) == (400, [(where, reason)])
    assert await held(roost, account.id) == before


@pytest.mark.spec("A volumes create size", "A volumes create tags")
@pytest.mark.parametrize(("field", "value"), ACCEPTED)
async def test_accepted(client: Client, field: str, value: object) -> None:
    row = await client.post(VOLUMES, volume_body(**{field: value}))
    default = {"size": 20, "tags": []}.get(field)
    if field in row:
        assert row[field] == (default if value is None else value)
    await rested(client, row["id"])


async def test_all_errors_together(client: Client) -> None:
    body = {"label": "1", "size": 5, "region": "x", "compute_id": 0, "tags": ["a"]}
    answer = await client.send("POST", VOLUMES, body)
    assert answer.problems == [
        ("label", FIRST),
        ("size", SIZE),
        ("compute_id", ID),
        ("region", "region is not valid"),
        ("tags[0]", "Length must be 3-50 characters"),
    ]


@pytest.mark.spec("A volumes create label", "A volumes create region")
async def test_somewhere(client: Client) -> None:
    somewhere = (None, "Must provide a region or a Compute ID")
    answer = await client.send("POST", VOLUMES, {"label": "data"})
    assert answer.problems == [somewhere]
    answer = await client.send("POST", VOLUMES, {})
    assert answer.problems == [("label", "label is required"), somewhere]


async def test_a_region_without_block_storage(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance, volume = await made(client), await made_volume(client)
    region = roost.catalog.find_region("us-lake")
    assert region is not None
    dry = region.model_copy(update={"capabilities": ["Computes"]})
    monkeypatch.setattr(roost.catalog, "find_region", lambda _: dry)
    answer = await client.send("POST", VOLUMES, volume_body(label="more"))
    assert answer.problems == [("region", "The region does not offer Block Storage")]
    reason = "The region of the Compute does not offer Block Storage"
    body = {"label": "more", "compute_id": instance["id"]}
    assert (await client.send("POST", VOLUMES, body)).problems == [("compute_id", reason)]
    # What is there already can still be used.
    assert (await attached(client, volume["id"], instance["id"]))["compute_id"] == instance["id"]


@pytest.mark.spec("A volumes update")
@pytest.mark.parametrize(("value", "reason"), [pair for pair in LABELS if isinstance(pair[0], str)])
async def test_labels_of_updates_and_clones(client: Client, value: str, reason: str) -> None:
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    for method, suffix in (("PUT", ""), ("POST", "/clone")):
        answer = await client.send(method, path + suffix, {"label": value})
        assert (answer.status, answer.problems) == (400, [("label", reason)])
    assert await client.get(path) == volume


@pytest.mark.parametrize(
    ("action", "body", "field", "reason"),
    [
        ("clone", {}, "label", "label is required"),
        ("clone", {"label": 5}, "label", "Must be a string"),
        ("resize", {}, "size", "size is required"),
        ("resize", {"size": None}, "size", "size is required"),
        ("resize", {"size": "30"}, "size", "Must be an integer"),
        ("resize", {"size": 30.5}, "size", "Must be an integer"),
        ("resize", {"size": True}, "size", "Must be an integer"),
        ("attach", {}, "compute_id", "compute_id is required"),
        ("attach", {"compute_id": "5"}, "compute_id", "Must be an integer"),
        ("attach", {"compute_id": 0}, "compute_id", ID),
        ("attach", {"compute_id": 999_999_999}, "compute_id", "compute_id is not valid"),
    ],
)
@pytest.mark.spec(
    "A volumes attach",
    "A volumes clone",
    "A volumes resize",
    "A volumes attach compute",
    "A volumes clone label",
    "A volumes resize size",
)
async def test_bodies_of_actions(
    client: Client, action: str, body: Json, field: str, reason: str
) -> None:
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    answer = await client.send("POST", f"{path}/{action}", body)
    assert (answer.status, answer.problems) == (400, [(field, reason)])
    assert await client.get(path) == volume


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"config_id": "x"}, ("config_id", "Must be an integer")),
        ({"persist_across_boots": 1}, ("persist_across_boots", "Must be true or false")),
        (
            {"config_id": 6, "persist_across_boots": False},
            (
                "persist_across_boots",
                "A config cannot name a volume that does not persist across boots",
            ),
        ),
    ],
)
async def test_what_does_not_exist_is_refused_with_the_rest(
    client: Client, body: Json, problem: tuple[str, str]
) -> None:
    path = f"{VOLUMES}/{(await made_volume(client))['id']}"
    answer = await client.send("POST", f"{path}/attach", {"compute_id": 5, **body})
    unknown = ("compute_id", "compute_id is not valid")
    assert (answer.status, answer.problems) == (400, [unknown, problem])


@pytest.mark.spec("A errors 5")
async def test_a_wrong_config_is_named_before_the_limit(client: Client) -> None:
    """An instance whose memory allows no more volumes."""
    instance = await made(client)
    await made_volume(client, compute_id=instance["id"])
    wrong = {"compute_id": instance["id"], "config_id": 999_999_999}
    named = [("config_id", "config_id is not valid")]
    answer = await client.send("POST", VOLUMES, {"label": "more", **wrong})
    assert answer.problems == named
    free = await made_volume(client, label="free")
    answer = await client.send("POST", f"{VOLUMES}/{free['id']}/attach", wrong)
    assert answer.problems == named
