"""SSH keys over HTTP, and how they come into new instances (reference: SSH key)."""

import pytest

from roost.app.roost import Roost
from roost.resources.compute.disks.records import SealedSetup
from roost.secrets import Box
from tests.api.conftest import Account, NewToken
from tests.support.client import Client, Json
from tests.support.instances import INSTANCES, create_body, held
from tests.support.keys import KEY, public_key

KEYS = "/profile/sshkeys"
OTHER = public_key("ssh-ed25519", b"o" * 32)
NO_KEYS = "Each must be a user of the account with stored SSH keys"


async def events(client: Client) -> list[tuple[str, Json]]:
    page = await client.get("/account/events", filter={"entity.type": "user_ssh_key"})
    return [(event["action"], event["entity"]) for event in page["data"]]


async def test_life_of_a_key(client: Client, account: Account) -> None:
    made = await client.post(KEYS, {"label": "laptop", "ssh_key": f"{KEY} me\n"})
    assert list(made) == ["id", "label", "ssh_key", "created"]
    assert (made["label"], made["ssh_key"]) == ("laptop", f"{KEY} me")
    path = f"{KEYS}/{made['id']}"
    assert await client.get(path) == made
    assert (await client.get(KEYS))["data"] == [made]
    assert (await client.get(f"/account/users/{account.username}"))["ssh_keys"] == ["laptop"]

    renamed = await client.put(path, {**made, "label": "old", "ssh_key": OTHER})
    assert renamed == {**made, "label": "old"}
    assert await client.put(path, {}) == renamed

    assert await client.delete(path) == {}
    assert (await client.get(KEYS))["data"] == []
    for method in ("GET", "PUT", "DELETE"):
        answer = await client.send(method, path, {} if method == "PUT" else None)
        assert answer.status == 404
    entity = {"id": made["id"], "label": "old", "type": "user_ssh_key", "url": f"/v4{path}"}
    assert await events(client) == [
        ("user_ssh_key_delete", entity),
        ("user_ssh_key_update", entity),
        ("user_ssh_key_update", entity),
        ("user_ssh_key_add", {**entity, "label": "laptop"}),
    ]


@pytest.mark.parametrize("label", ["", "a", "\u00fc" * 64])
async def test_labels(client: Client, label: str) -> None:
    made = await client.post(KEYS, {"label": label, "ssh_key": KEY})
    assert made["label"] == label
    path = f"{KEYS}/{made['id']}"
    assert (await client.put(path, {"label": f"{label[1:]}b"}))["label"] == f"{label[1:]}b"
    assert (await client.put(path, {"label": label}))["label"] == label


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, [("ssh_key", "ssh_key is required")]),
        ({"ssh_key": None}, [("ssh_key", "ssh_key is required")]),
        ({"ssh_key": 5}, [("ssh_key", "Must be a string")]),
        (
            {"label": "a" * 65, "ssh_key": "key"},
            [
                ("label", "Length must be 0-64 characters"),
                ("ssh_key", "Must be an SSH public key in OpenSSH format"),
            ],
        ),
        ({"label": ["a"], "ssh_key": KEY}, [("label", "Must be a string")]),
    ],
)
async def test_what_is_refused(client: Client, body: Json, problems: Json) -> None:
    answer = await client.send("POST", KEYS, body)
    assert (answer.status, answer.problems) == (400, problems)
    assert (await client.get(KEYS))["data"] == []
    assert await events(client) == []


@pytest.mark.parametrize("label", ["a" * 65, 5])
async def test_labels_that_a_key_cannot_get(client: Client, label: Json) -> None:
    made = await client.post(KEYS, {"label": "kept", "ssh_key": KEY})
    path = f"{KEYS}/{made['id']}"
    assert (await client.send("PUT", path, {"label": label})).status == 400
    assert await client.get(path) == made


async def colleague(
    client: Client, roost: Roost, account: Account, nobody: Client, new_token: NewToken
) -> tuple[str, Client]:
    """Another user of the account."""
    name = f"colleague-{account.id}"
    await client.post("/account/users", {"username": name, "email": "c@example.com"})
    user_id = await roost.store.fetchval("select id from api_user where username = $1", name)
    return name, nobody.as_user(await new_token(Account(account.id, user_id, name)))


async def test_keys_of_a_colleague_are_not_ones_own(
    client: Client, roost: Roost, account: Account, nobody: Client, new_token: NewToken
) -> None:
    _, other = await colleague(client, roost, account, nobody, new_token)
    made = await client.post(KEYS, {"ssh_key": KEY})
    for method in ("GET", "PUT", "DELETE"):
        answer = await other.send(method, f"{KEYS}/{made['id']}", {} if method == "PUT" else None)
        assert answer.status == 404
    assert (await other.get(KEYS))["data"] == []
    assert await client.get(f"{KEYS}/{made['id']}") == made


async def keys_in(roost: Roost, compute_id: int) -> list[str]:
    sealed = await roost.store.fetchval(
        "select setup from compute_disk where compute_id = $1 order by id limit 1", compute_id
    )
    return SealedSetup.unseal(roost.services.get(Box), sealed).authorized_keys


@pytest.mark.spec("B compute create users")
async def test_users_named_at_creation_get_their_keys_in(
    client: Client, roost: Roost, account: Account, nobody: Client, new_token: NewToken
) -> None:
    name, other = await colleague(client, roost, account, nobody, new_token)
    first, second = f"{KEY} first", f"{KEY} second"
    await client.post(KEYS, {"ssh_key": first})
    await client.post(KEYS, {"ssh_key": second})
    await other.post(KEYS, {"ssh_key": OTHER})
    users = [name, account.username, name]
    body = create_body(authorized_users=users, authorized_keys=[f"{KEY} given"])
    row = await client.post(INSTANCES, body)
    assert await keys_in(roost, row["id"]) == [f"{KEY} given", OTHER, first, second]


@pytest.mark.spec("B compute create users")
async def test_users_without_keys_or_of_other_accounts(
    client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    await stranger.post(KEYS, {"ssh_key": KEY})
    foreign = (await stranger.get("/profile"))["username"]
    for users in ([account.username], ["nobody"], [foreign], [""]):
        before = await held(roost, account.id)
        answer = await client.send("POST", INSTANCES, create_body(authorized_users=users))
        assert (answer.status, answer.problems) == (400, [("authorized_users", NO_KEYS)])
        assert await held(roost, account.id) == before
    await client.post(KEYS, {"ssh_key": KEY})
    body = create_body(authorized_users=[account.username, foreign])
    assert (await client.send("POST", INSTANCES, body)).status == 400
