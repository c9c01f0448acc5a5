"""Every field of the body that creates an instance: its type, what it accepts, what it refuses."""

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.support.client import Client, Json
from tests.support.instances import INSTANCES, OMITTED, create_body, held

pytestmark = pytest.mark.spec("B compute create fields", "B limits compute label")

STRINGS = ("type", "region", "image", "root_pass", "label", "group")
NUMBERS = ("backup_id", "firewall_id", "stackscript_id", "swap_size")
FLAGS = ("booted", "backups_enabled", "private_ip")
ARRAYS = ("tags", "authorized_keys", "authorized_users", "interfaces")
OBJECTS = ("metadata", "stackscript_data")
WRONG_TYPES: dict[str, tuple[tuple[str, ...], tuple[object, ...]]] = {
    "Must be a string": (STRINGS, (5, True, 1.5, [], {})),
    "Must be an integer": (NUMBERS, ("5", True, 1.5, [], {}, 2**70)),
    "Must be true or false": (FLAGS, ("true", 1, 0, [], {})),
    "Must be an array": (ARRAYS, ("x", 1, True, {})),
    "Must be an object": (OBJECTS, ("x", 1, True, [])),
}
LABEL = (
    "Must begin and end with a letter or number, and hold only letters, numbers, hyphens, "
    "underscores and periods, none of the last three twice in a row"
)
STRENGTH = "Password does not meet strength requirement"

REFUSED = [
    # type
    ("type", OMITTED, "type is required"),
    ("type", None, "type is required"),
    ("type", "", "A valid plan type by that ID was not found"),
    ("type", "G1-NANO-1", "A valid plan type by that ID was not found"),
    ("type", " g1-nano-1", "A valid plan type by that ID was not found"),
    ("type", "x" * 100_000, "Length must be 0-255 characters"),
    # region
    ("region", OMITTED, "region is required"),
    ("region", None, "region is required"),
    ("region", "", "region is not valid"),
    ("region", "US-LAKE", "region is not valid"),
    ("region", "us-lake/", "region is not valid"),
    # image
    ("image", "", "image is not valid"),
    ("image", "debian12", "image is not valid"),
    ("image", "private/100001", "image is not valid"),
    # root_pass
    ("root_pass", OMITTED, "root_pass is required"),
    ("root_pass", None, "root_pass is required"),
    ("root_pass", "", "Length must be 7-128 characters"),
    ("root_pass", "kW9#xQ", "Length must be 7-128 characters"),
    ("root_pass", "kW9#xQ!z" * 16 + "x", "Length must be 7-128 characters"),
    ("root_pass", "password", STRENGTH),
    ("root_pass", "aaaaaaaaaaaaaaaa", STRENGTH),
    ("root_pass", "12345678910", STRENGTH),
    # label
    ("label", "", "Length must be 3-64 characters"),
    ("label", "ab", "Length must be 3-64 characters"),
    ("label", "a" * 65, "Length must be 3-64 characters"),
    *(
        ("label", label, LABEL)
        for label in (
            "-abc",
            "abc-",
            "_abc",
            "abc.",
            "a--b",
            "a__b",
            "a..b",
            "a b",
            "caf\u00e9s",
            "abc\n",
            "a/b",
            "\u0660\u0661\u0662",
        )
    ),
    # group
    ("group", "g" * 256, "Length must be 0-255 characters"),
    # what there is none of yet
    ("authorized_users", ["nobody"], "Each must be a user of the account with stored SSH keys"),
    ("backup_id", 1, "backup_id is not valid"),
    ("backup_id", 0, f"Must be 1-{2**63 - 1}"),
    ("backup_id", -1, f"Must be 1-{2**63 - 1}"),
    ("firewall_id", 1, "firewall_id is not valid"),
    ("firewall_id", 0, f"Must be 1-{2**63 - 1}"),
    ("stackscript_id", 1, "stackscript_id is not valid"),
    ("stackscript_id", 0, f"Must be 1-{2**63 - 1}"),
    ("stackscript_data", {"a": "b" * 65527}, "stackscript_data needs a stackscript_id"),
    ("stackscript_data", {"a": "b" * 65528}, "Must be at most 65535 characters of JSON"),
    # swap_size: the plan has 25600 MB, the image takes 1800
    ("swap_size", -1, "Must be 0-2147483647"),
    ("swap_size", 2**31, "Must be 0-2147483647"),
    ("swap_size", 23801, "Must be 0-23800: the plan's disk holds the image and the swap"),
]

SHOWN = [
    ("type", "g1-standard-1"),
    ("region", "br-south"),
    ("image", "roost/arch"),
    ("label", "abc"),
    ("label", "a" * 64),
    ("label", "A.b_c-9"),
    ("label", "a-_.b"),
    ("label", "123"),
    ("tags", ["abc", "t" * 50, "\u00fcml\u00e4ut", "with space"]),
    ("tags", []),
    ("group", ""),
    ("group", "g" * 50),
]
UNSEEN = [
    ("booted", True),
    ("booted", False),
    ("authorized_users", []),
    ("backups_enabled", False),
    ("backups_enabled", True),
    ("private_ip", False),
    ("interfaces", []),
    ("metadata", {}),
    ("metadata", {"user_data": None}),
    ("root_pass", "kW9#xQ!"),
    ("root_pass", "kW9#xQ!z" * 16),
    (
        "root_pass",
        "\u043f\u0430\u0440\u043e\u043b\u044c \u0434\u043b\u044f \u043a\u043e\u0448\u043a\u0438",
    ),
    ("swap_size", 0),
    ("swap_size", 23800),
    ("unknown", {"any": ["thing"]}),
]
WRONG = [
    pytest.param(field, value, reason, id=f"{field}-{value!r}")
    for reason, (fields, values) in WRONG_TYPES.items()
    for field in fields
    for value in values
]


async def refuse(
    client: Client, roost: Roost, account: Account, body: Json
) -> list[tuple[str | None, str]]:
    """The problems of a body that is refused and has changed nothing."""
    before = await held(roost, account.id)
    answer = await client.send("POST", INSTANCES, body)
    assert answer.status == 400, answer.body
    assert await held(roost, account.id) == before
    return answer.problems


@pytest.mark.parametrize(("field", "value", "reason"), WRONG)
async def test_wrong_types(
    client: Client, roost: Roost, account: Account, field: str, value: object, reason: str
) -> None:
    problems = await refuse(client, roost, account, create_body(**{field: value}))
    assert problems == [(field, reason)]


@pytest.mark.spec(
    "B compute label",
    "B compute 2 password",
    "B compute 2 strength",
    "B compute create backup",
    "B compute create stackscript_data",
    "B limits compute label",
)
@pytest.mark.parametrize(("field", "value", "reason"), REFUSED)
async def test_refused_values(
    client: Client, roost: Roost, account: Account, field: str, value: object, reason: str
) -> None:
    problems = await refuse(client, roost, account, create_body(**{field: value}))
    assert problems == [(field, reason)]


@pytest.mark.spec("B compute label", "B compute create tags")
@pytest.mark.parametrize(("field", "value"), SHOWN)
async def test_accepted_values_are_returned_as_sent(
    client: Client, field: str, value: object
) -> None:
    row = await client.post(INSTANCES, create_body(**{field: value}))
    assert row[field] == value
    assert (await client.get(f"{INSTANCES}/{row['id']}"))[field] == value


@pytest.mark.parametrize(("field", "value"), UNSEEN)
async def test_accepted_values_that_records_do_not_show(
    client: Client, field: str, value: object
) -> None:
    row = await client.post(INSTANCES, create_body(**{field: value}))
    assert field not in row
    assert row["status"] == "provisioning"


async def test_every_declared_field_has_rows() -> None:
    from roost.resources.compute.bodies import CreateInstance

    typed = {field for fields, _ in WRONG_TYPES.values() for field in fields}
    assert typed == set(CreateInstance.model_fields)
    accepted = {field for field, _ in (*SHOWN, *UNSEEN)}
    elsewhere = {"authorized_keys", "backup_id", "firewall_id", "stackscript_id"}
    assert typed - accepted == elsewhere | {"stackscript_data"}


@pytest.mark.spec("B compute default label")
async def test_null_means_omitted(client: Client) -> None:
    optional = {*STRINGS, *NUMBERS, *FLAGS, *ARRAYS, *OBJECTS}
    nulls = dict.fromkeys(optional - {"type", "region"})
    row = await client.post(INSTANCES, create_body(**nulls))
    assert row["label"] == f"compute{row['id']}"
    assert (row["image"], row["group"], row["tags"]) == (None, "", [])
    assert row["has_user_data"] is False
    assert len(row["ipv4"]) == 1


@pytest.mark.spec("A errors 2", "A errors 5")
async def test_all_errors_of_a_body_come_in_field_order(
    client: Client, roost: Roost, account: Account
) -> None:
    wrong = {
        "swap_size": -1,
        "stackscript_id": 7,
        "metadata": {"user_data": "?"},
        "interfaces": [{"purpose": "vlan"}, {"purpose": "moon"}],
        "firewall_id": 7,
        "backups_enabled": 1,
        "backup_id": -7,
        "authorized_users": [7],
        "authorized_keys": ["key"],
        "group": "g" * 256,
        "tags": ["ok ok", "no"],
        "label": "-",
        "root_pass": "x",
        "image": "none",
        "region": "none",
        "type": "none",
    }
    problems = await refuse(client, roost, account, create_body(**wrong))
    assert [field for field, _ in problems] == [
        "type",
        "region",
        "image",
        "root_pass",
        "label",
        "tags[1]",
        "group",
        "backup_id",
        "authorized_keys[0]",
        "authorized_users[0]",
        "backups_enabled",
        "firewall_id",
        "interfaces[0].label",
        "interfaces[1].purpose",
        "metadata.user_data",
        "stackscript_id",
        "swap_size",
    ]
    assert problems[:2] == [
        ("type", "A valid plan type by that ID was not found"),
        ("region", "region is not valid"),
    ]


async def test_an_empty_body_names_what_is_required(
    client: Client, roost: Roost, account: Account
) -> None:
    expected = [("type", "type is required"), ("region", "region is required")]
    assert await refuse(client, roost, account, {}) == expected
