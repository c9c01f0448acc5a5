"""What a new guest is given: keys, user data, password, disks, addresses and power."""

import base64

import pytest

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.secrets import Box
from roost.web.bodies import MAX_DEPTH
from tests.api.conftest import Account
from tests.support.client import Client, until
from tests.support.instances import INSTANCES, OMITTED, create_body, held, made

pytestmark = pytest.mark.spec("B compute create fields")

_BLOB = "AAAAC3NzaC1lZDI1NTE5AAAAIGtQ0Qb0bB1m0p6v3dQnJmGQ7oZl0o4sJZt5q3m9x1aB"
KEY = f"ssh-ed25519 {_BLOB}"
JSON = {"Content-Type": "application/json"}
NO_KEY = "Must be an SSH public key in OpenSSH format"
NO_CLOUD_INIT = "user_data needs an image with the cloud-init capability"
TOO_LONG = "Must be 1-65535 bytes when decoded"


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


async def setup_of(roost: Roost, compute_id: int) -> SealedSetup:
    sealed = await roost.store.fetchval(
        "select setup from compute_disk where compute_id = $1 order by id limit 1", compute_id
    )
    return SealedSetup.unseal(roost.services.get(Box), sealed)


async def kept_user_data(roost: Roost, compute_id: int) -> bytes:
    """As the guest gets it."""
    query = "select user_data from compute_instance where id = $1"
    sealed = await roost.store.fetchval(query, compute_id)
    return base64.b64decode(roost.services.get(Box).open(sealed))


async def refuse(
    client: Client, roost: Roost, account: Account, **changes: object
) -> list[tuple[str | None, str]]:
    before = await held(roost, account.id)
    answer = await client.send("POST", INSTANCES, create_body(**changes))
    assert answer.status == 400, answer.body
    assert await held(roost, account.id) == before
    return answer.problems


@pytest.mark.spec("B compute create keys")
@pytest.mark.parametrize(
    ("keys", "kept"),
    [
        ([KEY], [KEY]),
        ([f"{KEY} me@example"], [f"{KEY} me@example"]),
        ([f"{KEY} a comment of words"], [f"{KEY} a comment of words"]),
        ([f"{KEY} me@example\n"], [f"{KEY} me@example"]),
        ([f"  {KEY}\r\n"], [KEY]),
        ([KEY, KEY], [KEY, KEY]),
    ],
)
async def test_keys_reach_the_guest(
    client: Client, roost: Roost, keys: list[str], kept: list[str]
) -> None:
    row = await client.post(INSTANCES, create_body(authorized_keys=keys))
    assert (await setup_of(roost, row["id"])).authorized_keys == kept


@pytest.mark.spec("B compute create keys")
@pytest.mark.parametrize(
    "key",
    [
        "",
        "ssh-ed25519",
        _BLOB,
        f"ssh-rsa {_BLOB}",
        f"ssh-future {_BLOB}",
        f"ssh-ed25519 {_BLOB[:-3]}",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
        f"{KEY}\n{KEY}",
        f"{KEY} com\nment",
        f'command="reboot" {KEY}',
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "x" * 16_384,
    ],
)
async def test_what_is_no_key(client: Client, roost: Roost, account: Account, key: str) -> None:
    problems = await refuse(client, roost, account, authorized_keys=[KEY, key])
    assert problems == [("authorized_keys[1]", NO_KEY)]


async def test_elements_of_the_wrong_type(client: Client, roost: Roost, account: Account) -> None:
    problems = await refuse(client, roost, account, tags=["abc", 5], authorized_keys=[5, KEY, None])
    assert problems == [
        ("tags[1]", "Must be a string"),
        ("authorized_keys[0]", "Must be a string"),
        ("authorized_keys[2]", "Must be a string"),
    ]


@pytest.mark.parametrize("tag", ["", "ab", "t" * 51])
async def test_tags_have_3_to_50_characters(
    client: Client, roost: Roost, account: Account, tag: str
) -> None:
    problems = await refuse(client, roost, account, tags=["abc", tag])
    assert problems == [("tags[1]", "Length must be 3-50 characters")]


@pytest.mark.spec("B compute 3", "B compute user data", "B compute create metadata")
@pytest.mark.parametrize("data", [b"x", b"#cloud-config\n", bytes(range(256)), b"x" * 65535])
async def test_user_data_reaches_the_guest(client: Client, roost: Roost, data: bytes) -> None:
    row = await client.post(INSTANCES, create_body(metadata={"user_data": encoded(data)}))
    assert row["has_user_data"] is True
    assert await kept_user_data(roost, row["id"]) == data


@pytest.mark.spec("B compute 3")
async def test_user_data_in_several_lines(client: Client, roost: Roost) -> None:
    """As `base64 FILE` makes them; the guest gets what the file holds."""
    data = b"#!/bin/sh\necho " + b"x" * 200
    body = create_body(metadata={"user_data": base64.encodebytes(data).decode()})
    row = await client.post(INSTANCES, body)
    assert await kept_user_data(roost, row["id"]) == data


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (b"#!/bin/sh\ntrue", []),
        (
            b"#cloud-config",
            [
                (
                    "metadata.user_data",
                    "user_data must be a script that begins with #! for this image",
                )
            ],
        ),
    ],
)
async def test_user_data_of_an_image_that_runs_scripts(
    client: Client, data: bytes, problems: list[tuple[str, str]]
) -> None:
    body = create_body(image="roost/mini", metadata={"user_data": encoded(data)})
    assert (await client.send("POST", INSTANCES, body)).problems == problems


@pytest.mark.spec("B compute 3")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (encoded(b"x" * 65536), TOO_LONG),
        ("?", "Must be base64-encoded"),
        ("eA", "Must be base64-encoded"),
        ("caf\u00e9", "Must be base64-encoded"),
        ("__-_", "Must be base64-encoded"),
        (5, "Must be a string"),
        (["eA=="], "Must be a string"),
    ],
)
async def test_user_data_that_is_refused(
    client: Client, roost: Roost, account: Account, text: object, reason: str
) -> None:
    problems = await refuse(client, roost, account, metadata={"user_data": text})
    assert problems == [("metadata.user_data", reason)]


@pytest.mark.spec("B compute 3 image")
@pytest.mark.parametrize(
    "changes",
    [{"image": "roost/alpine3.19"}, {"image": OMITTED, "root_pass": OMITTED}],
)
async def test_user_data_needs_cloud_init(
    client: Client, roost: Roost, account: Account, changes: dict[str, object]
) -> None:
    metadata = {"user_data": encoded(b"#cloud-config")}
    problems = await refuse(client, roost, account, metadata=metadata, **changes)
    assert problems == [("metadata.user_data", NO_CLOUD_INIT)]


async def test_plain_password_is_sealed_and_forgotten(client: Client, roost: Roost) -> None:
    password = "not-to-be-Found-9137"
    row = await made(client, root_pass=password)
    setup = await setup_of(roost, row["id"])
    assert setup.root_pass is None
    assert setup.root_password_hash is not None
    assert setup.root_password_hash.startswith("$6$")
    rows = await roost.store.fetch(
        "select c::text as text from compute_instance c where id = $1"
        " union all select d::text from compute_disk d where compute_id = $1"
        " union all select j::text from job j where resource = $2"
        " union all select e::text from event e where entity_id = $1::text",
        row["id"],
        f"compute:{row['id']}",
    )
    assert len(rows) >= 5
    assert not any(password in found["text"] for found in rows)
    assert not any(password.encode().hex() in found["text"] for found in rows)


@pytest.mark.spec("B compute 2", "B compute create swap")
@pytest.mark.parametrize(
    ("swap", "sizes"), [(OMITTED, [25088, 512]), (0, [25600]), (1000, [24600, 1000])]
)
async def test_swap_is_taken_from_the_plans_disk(
    client: Client, roost: Roost, swap: object, sizes: list[int]
) -> None:
    row = await made(client, swap_size=swap)
    state = await roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake").inspect(row["id"])
    assert state is not None
    assert [disk.size for disk in state.disks] == sizes
    assert row["specs"]["disk"] == 25600


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"booted": OMITTED}, "running"),
        ({"booted": True}, "running"),
        ({"booted": None}, "running"),
        ({"booted": False}, "offline"),
        ({"booted": OMITTED, "image": OMITTED, "root_pass": OMITTED}, "offline"),
    ],
)
@pytest.mark.spec("B compute 5", "B compute create booted")
async def test_whether_it_is_booted(
    client: Client, roost: Roost, changes: dict[str, object], status: str
) -> None:
    created = await client.post(INSTANCES, create_body(**changes))
    assert created["status"] == "provisioning"
    row = await until(
        lambda: client.get(f"{INSTANCES}/{created['id']}"), lambda row: row["status"] == status
    )
    state = await roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake").inspect(row["id"])
    assert (state.power if state else "offline") == status


@pytest.mark.spec("B compute ipv4")
@pytest.mark.parametrize(("private", "count"), [(False, 1), (True, 2)])
async def test_addresses(client: Client, roost: Roost, private: bool, count: int) -> None:
    row = await client.post(INSTANCES, create_body(private_ip=private))
    assert len(row["ipv4"]) == count
    rows = await roost.store.fetch(
        "select host(address) as address, public from ip_address where compute_id = $1"
        " order by public desc",
        row["id"],
    )
    assert [found["address"] for found in rows] == row["ipv4"]
    assert [found["public"] for found in rows] == [True, False][:count]


@pytest.mark.parametrize(
    ("plan", "region", "reason"),
    [
        ("g1-gpu-2", "us-lake", "The region has no capacity for this plan type"),
        ("g1-gpu-1", "br-south", "The region has no capacity for this plan type"),
        ("g2-premium-8", "br-south", "The region has no capacity for this plan type"),
    ],
)
async def test_plans_that_a_region_does_not_have(
    client: Client, roost: Roost, account: Account, plan: str, region: str, reason: str
) -> None:
    problems = await refuse(client, roost, account, type=plan, region=region)
    assert problems == [("region", reason)]


@pytest.mark.parametrize("field", ["label", "group", "image", "root_pass", "type", "region"])
async def test_nul_characters(client: Client, roost: Roost, account: Account, field: str) -> None:
    problems = await refuse(client, roost, account, **{field: "abc\0def"})
    assert problems == [(field, "Must not contain NUL characters")]


@pytest.mark.parametrize("depth", [62, 63, 200, 400, 1020])
@pytest.mark.parametrize("value", [b'"\\u0000"', b"0", b"[]"])
async def test_deep_bodies(
    client: Client, roost: Roost, account: Account, depth: int, value: bytes
) -> None:
    before = await held(roost, account.id)
    deep = b'{"a":' * depth + value + b"}" * depth
    data = b'{"type":"g1-nano-1","region":"us-lake","stackscript_data":' + deep + b"}"
    answer = await client.send("POST", INSTANCES, data=data, headers=JSON)
    assert answer.status == 400
    too_deep = 1 + depth + (value == b"[]") > MAX_DEPTH
    said = [(None, "The body must not be nested deeper than 64 levels")]
    assert (answer.problems == said) == too_deep
    assert await held(roost, account.id) == before


@pytest.mark.spec("B compute 3 region")
async def test_user_data_need_a_region_with_the_capability(
    client: Client, roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    region = roost.catalog.find_region("us-lake")
    assert region is not None
    without = region.model_copy(update={"capabilities": ["Computes"]})
    monkeypatch.setattr(roost.catalog, "find_region", lambda _: without)
    metadata = {"user_data": encoded(b"#cloud-config")}
    problems = await refuse(client, roost, account, metadata=metadata)
    reason = "user_data needs a region with the Metadata capability"
    assert problems == [("metadata.user_data", reason)]
