"""Tags over HTTP: made, given, listed and deleted (spec B, Tags)."""

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, create_body, held, made
from tests.support.tags import TAGS, labels, one, tagged

ALL = ("domains", "computes", "nodebalancers", "volumes")
MISSING = 999_999_999


async def events(client: Client) -> list[tuple[str, Json]]:
    page = await client.get("/account/events", filter={"entity.type": "tag"})
    return [(event["action"], event["entity"]) for event in page["data"]]


@pytest.mark.spec("B tags create", "B tags list", "B tags view", "B tags delete", "B tag record")
async def test_life_of_a_tag(client: Client) -> None:
    assert (await client.get(TAGS))["data"] == []
    first, second, other = [await made(client) for _ in range(3)]
    assert await client.post(TAGS, {"label": "gold"}) == {"label": "gold"}
    assert await client.get(one("gold")) == {"data": [], "page": 1, "pages": 1, "results": 0}

    ids = [second["id"], first["id"]]
    assert await client.post(TAGS, {"label": "blue", "computes": ids}) == {"label": "blue"}
    assert (await client.get(TAGS))["data"] == [{"label": "blue"}, {"label": "gold"}]
    page = await client.get(one("blue"))
    assert (page["results"], [list(row) for row in page["data"]]) == (2, [["type", "data"]] * 2)
    for row, before in zip(page["data"], (first, second), strict=True):
        assert row == {"type": "compute", "data": {**before, "tags": ["blue"]}}
        assert await client.get(f"{INSTANCES}/{before['id']}") == row["data"]
    assert await client.get(f"{INSTANCES}/{other['id']}") == other

    assert await client.delete(one("blue")) == {}
    for before in (first, second):
        assert await client.get(f"{INSTANCES}/{before['id']}") == before
    assert await labels(client) == ["gold"]
    for method in ("GET", "DELETE"):
        answer = await client.send(method, one("blue"))
        assert (answer.status, answer.problems) == (404, [(None, "Not found")])
    blue = {"id": "blue", "label": "blue", "type": "tag", "url": "/v4/tags/blue"}
    gold = {"id": "gold", "label": "gold", "type": "tag", "url": "/v4/tags/gold"}
    assert await events(client) == [
        ("tag_delete", blue),
        ("tag_create", blue),
        ("tag_create", gold),
    ]


@pytest.mark.spec("B tags create")
async def test_a_tag_that_exists_gets_more_entities(client: Client) -> None:
    first, second = await made(client, tags=["own"]), await made(client)
    for ids in ([], [first["id"]], [second["id"], second["id"]], [first["id"]]):
        assert await client.post(TAGS, {"label": "gold", "computes": ids}) == {"label": "gold"}
    assert await tagged(client, "gold") == [("compute", first["id"]), ("compute", second["id"])]
    assert (await client.get(f"{INSTANCES}/{first['id']}"))["tags"] == ["own", "gold"]
    assert (await client.get(f"{INSTANCES}/{second['id']}"))["tags"] == ["gold"]


@pytest.mark.spec("B tags list")
async def test_tags_that_entities_are_given(client: Client) -> None:
    """They are there from then on, whether anything still has them or not; case makes two.

    An entity has each once.
    """
    row = await made(client, tags=["red", "Blue"])
    path = f"{INSTANCES}/{row['id']}"
    assert sorted(await labels(client)) == ["Blue", "red"]
    sent = ["blue", "Blue", "blue"]
    assert (await client.put(path, {"tags": sent}))["tags"] == ["blue", "Blue"]
    assert sorted(await labels(client)) == ["Blue", "blue", "red"]
    assert await tagged(client, "red") == []
    assert await tagged(client, "blue") == [("compute", row["id"])]
    await client.delete(one("blue"))
    assert (await client.get(path))["tags"] == ["Blue"]

    await client.delete(path)
    await until(lambda: client.send("GET", path), lambda answer: answer.status == 404)
    assert sorted(await labels(client)) == ["Blue", "red"]
    assert await tagged(client, "Blue") == []
    refused = create_body(tags=["new-tag"], label=row["label"], type="none")
    assert (await client.send("POST", INSTANCES, refused)).status == 400
    assert "new-tag" not in await labels(client)


@pytest.mark.spec("B tags list", "B filter")
async def test_the_list_is_ordered_and_can_be_filtered(client: Client) -> None:
    for label in ("zoo", "beta-1", "alpha-1", "alpha-2"):
        await client.post(TAGS, {"label": label})
    assert await labels(client) == ["alpha-1", "alpha-2", "beta-1", "zoo"]

    async def found(**wanted: object) -> list[str]:
        return [row["label"] for row in (await client.get(TAGS, filter=wanted))["data"]]

    assert await found(label="zoo") == ["zoo"]
    assert await found(label="Zoo") == []
    assert await found(label={"+contains": "A-"}) == ["alpha-1", "alpha-2", "beta-1"]
    assert await found(**{"+order_by": "label", "+order": "desc", "+limit": 2}) == ["zoo", "beta-1"]


@pytest.mark.spec("B tags create", "B limits tag label")
@pytest.mark.parametrize(
    "label",
    [
        "abc",
        "x" * 50,
        "\U0001f5ff" * 50,
        "e\u0301t\u00e9 \u6771\u4eac \u202e\u0627\u0628\u062c",
        "   ",
        " \u00a0 ",
        "a/b",
        "/a/",
        "///",
        "...",
        "../tags",
        "100%",
        "%2F%00",
        "a?b#c&d=e+f",
        "{'\"}\\,;<b>",
        "null",
    ],
)
async def test_labels_come_back_as_sent(client: Client, label: str) -> None:
    row = await made(client)
    await client.post(TAGS, {"label": "a/b/c"})
    assert await client.post(TAGS, {"label": label, "computes": [row["id"]]}) == {"label": label}
    assert sorted(await labels(client)) == sorted(["a/b/c", label])
    assert await tagged(client, label) == [("compute", row["id"])]
    assert (await client.get(TAGS, filter={"label": label}))["data"] == [{"label": label}]
    assert (await client.get(f"{INSTANCES}/{row['id']}"))["tags"] == [label]
    action, entity = (await events(client))[0]
    assert (action, entity["id"], entity["label"]) == ("tag_create", label, label)
    assert await client.get(entity["url"].removeprefix("/v4")) == await client.get(one(label))
    assert await client.delete(one(label)) == {}
    assert await labels(client) == ["a/b/c"]


async def test_slashes_may_be_sent_as_they_are(client: Client) -> None:
    """But for those at the end, which belong to the label only when they are encoded."""
    for label in ("a/b", "a/b/"):
        await client.post(TAGS, {"label": label})
    for path in ("/tags/a/b", "/tags/a/b/", "/tags/a%2Fb"):
        assert (await client.get(path))["results"] == 0
    await client.delete("/tags/a/b%2F")
    assert await labels(client) == ["a/b"]
    await client.delete("/tags/a/b/")
    assert await labels(client) == []


IDS = [
    ([0], "[0]", "Must be 1-9223372036854775807"),
    ([2**63], "[0]", "Must be 1-9223372036854775807"),
    (["1"], "[0]", "Must be an integer"),
    ([True], "[0]", "Must be an integer"),
    ([1.5], "[0]", "Must be an integer"),
    ([None], "[0]", "Must be an integer"),
    (7, "", "Must be an array"),
    ({"0": 7}, "", "Must be an array"),
]
LENGTH = "Length must be 3-50 characters"


@pytest.mark.spec("B tags create", "B limits tag label", "A errors 2", "A errors 5")
@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, [("label", "label is required")]),
        ({"label": None}, [("label", "label is required")]),
        ({"label": ""}, [("label", LENGTH)]),
        ({"label": "ab"}, [("label", LENGTH)]),
        ({"label": "x" * 51}, [("label", LENGTH)]),
        ({"label": 100}, [("label", "Must be a string")]),
        ({"label": ["abc"]}, [("label", "Must be a string")]),
        ({"label": "a\0bc"}, [("label", "Must not contain NUL characters")]),
        *(
            ({"label": f"a{control}bc"}, [("label", "Must not contain control characters")])
            for control in "\n\r\t\x1b\x7f"
        ),
        (
            {"label": "ab", "computes": [1, -1], "volumes": [2]},
            [
                ("label", LENGTH),
                ("computes[0]", "Not found"),
                ("computes[1]", "Must be 1-9223372036854775807"),
                ("volumes[0]", "Not found"),
            ],
        ),
        (
            {"volumes": [0], "computes": "all", "label": "ab"},
            [
                ("label", LENGTH),
                ("computes", "Must be an array"),
                ("volumes[0]", "Must be 1-9223372036854775807"),
            ],
        ),
        *(
            ({"label": "gold", name: ids}, [(name + where, reason)])
            for name in ALL
            for ids, where, reason in IDS
        ),
    ],
)
async def test_what_is_refused(
    client: Client, roost: Roost, account: Account, body: Json, problems: Json
) -> None:
    answer = await client.send("POST", TAGS, body)
    assert (answer.status, answer.problems) == (400, problems)
    assert await labels(client) == []
    assert (await held(roost, account.id))["events"] == 0


async def test_labels_that_are_no_text(client: Client) -> None:
    headers = {"Content-Type": "application/json"}
    for label in (b"\\ud800abc", b"abc\xff"):
        data = b'{"label": "' + label + b'"}'
        answer = await client.send("POST", TAGS, data=data, headers=headers)
        assert (answer.status, len(answer.problems)) == (400, 1)
    assert await labels(client) == []


async def test_null_means_omitted(client: Client) -> None:
    await client.post(TAGS, {"label": "gold", **dict.fromkeys(ALL)})
    assert await labels(client) == ["gold"]


@pytest.mark.spec("B tags read_write")
async def test_all_or_nothing(client: Client, stranger: Client) -> None:
    """Whatever is missing is named, be it another account's or of a kind that does not exist."""
    mine, foreign = await made(client, tags=["own"]), await made(stranger)
    ids = [mine["id"], foreign["id"], mine["id"], MISSING]
    body = {"label": "gold", "volumes": [mine["id"]], "computes": ids, "nodebalancers": [1, 2]}
    before = await events(client)
    answer = await client.send("POST", TAGS, body)
    fields = ["computes[1]", "computes[3]", "nodebalancers[0]", "nodebalancers[1]", "volumes[0]"]
    assert answer.status == 400
    assert answer.problems == [(field, "Not found") for field in fields]
    assert await labels(client) == ["own"]
    assert await client.get(f"{INSTANCES}/{mine['id']}") == mine
    assert await stranger.get(f"{INSTANCES}/{foreign['id']}") == foreign
    assert await events(client) == before


@pytest.mark.spec("B tags read_write", "B tags delete")
async def test_accounts_share_nothing(client: Client, stranger: Client) -> None:
    mine, foreign = await made(client, tags=["gold"]), await made(stranger, tags=["gold", "other"])
    assert await labels(client) == ["gold"]
    assert await tagged(client, "gold") == [("compute", mine["id"])]
    for method in ("GET", "DELETE"):
        assert (await client.send(method, one("other"))).status == 404
    await client.delete(one("gold"))
    assert (await stranger.get(f"{INSTANCES}/{foreign['id']}"))["tags"] == ["gold", "other"]
    assert await tagged(stranger, "gold") == [("compute", foreign["id"])]


@pytest.mark.spec("B tags unrestricted", "B auth 5")
async def test_tags_are_for_unrestricted_users(
    client: Client, nobody: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    row = await made(client, tags=["gold"])
    user = await new_user(account, restricted=True)
    everything = {
        "global": {"account_access": "read_write", "add_computes": True},
        "compute": [{"id": row["id"], "permissions": "read_write"}],
    }
    await client.put(f"/account/users/{user.username}/grants", everything)
    restricted = nobody.as_user(await new_token(user))
    for method, path, body in (
        ("GET", TAGS, None),
        ("POST", TAGS, {"label": "mine", "computes": [row["id"]]}),
        ("POST", TAGS, {"label": "x"}),
        ("GET", one("gold"), None),
        ("DELETE", one("gold"), None),
        ("DELETE", one("none"), None),
    ):
        answer = await restricted.send(method, path, body)
        assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])
    assert await labels(client) == ["gold"]
    assert await client.get(f"{INSTANCES}/{row['id']}") == row
