"""Personal access tokens over HTTP (reference: Personal access token)."""

import asyncio
from datetime import timedelta

import pytest

from roost.app.roost import Roost
from roost.core.scopes import Scopes
from roost.resources.tokens.service import make_token
from tests.api.conftest import Account, NewAccount, NewToken
from tests.support.client import Client, Json

pytestmark = pytest.mark.spec("A auth 1", "A auth 2")

TOKENS = "/profile/tokens"
BAD_SCOPES = "Must be *, or scopes such as computes:read_only with spaces or commas between them"
BAD_TIME = "Must be a date-time such as 2030-12-31T23:59:59, in UTC"
TOO_WIDE = "Must not exceed the scopes of the token that you use"


async def events(client: Client) -> list[tuple[str, Json]]:
    page = await client.get("/account/events", filter={"entity.type": "token"})
    return [(event["action"], event["entity"]) for event in page["data"]]


async def test_life_of_a_token(client: Client, nobody: Client) -> None:
    made = await client.post(
        TOKENS, {"label": "ci", "scopes": "account:read_only", "expiry": "2999-01-01T00:00:00"}
    )
    assert len(made["token"]) == 64
    assert len(str(made["id"])) == 6
    shown = {**made, "token": made["token"][:16]}
    assert list(shown) == ["id", "scopes", "created", "label", "token", "expiry", "revision"]
    path = f"{TOKENS}/{made['id']}"
    assert await client.get(path) == shown
    assert shown in (await client.get(TOKENS))["data"]
    bearer = nobody.as_user(made["token"])
    assert (await bearer.get(path)) == shown

    renamed = await client.put(path, {**shown, "label": "new", "scopes": "*", "expiry": None})
    assert renamed == {**shown, "label": "new"}
    assert await client.get(path) == renamed

    assert await client.delete(path) == {}
    assert (await bearer.send("GET", path)).status == 401
    assert (await client.send("GET", path)).status == 404
    assert (await client.send("DELETE", path)).status == 404
    assert shown["id"] not in [row["id"] for row in (await client.get(TOKENS))["data"]]
    entity = {"id": made["id"], "label": "new", "type": "token", "url": f"/v4{path}"}
    assert await events(client) == [
        ("token_delete", entity),
        ("token_update", entity),
        ("token_create", {**entity, "label": "ci"}),
    ]


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ({}, {"label": "Personal access token", "scopes": "*", "expiry": None}),
        ({"label": "a"}, {"label": "a"}),
        ({"label": "\u00fc" * 100}, {"label": "\u00fc" * 100}),
        ({"label": None, "scopes": None, "expiry": None}, {"scopes": "*", "expiry": None}),
        ({"scopes": "*"}, {"scopes": "*"}),
        ({"scopes": "events:read_only"}, {"scopes": "events:read_only"}),
        (
            {"scopes": "events:read_only computes:read_write"},
            {"scopes": "events:read_only computes:read_write"},
        ),
        (
            {"scopes": "events:read_only,computes:read_write"},
            {"scopes": "events:read_only computes:read_write"},
        ),
        ({"expiry": "2999-12-31T23:59:59"}, {"expiry": "2999-12-31T23:59:59"}),
        ({"expiry": "9999-12-31T23:59:59"}, {"expiry": "9999-12-31T23:59:59"}),
        ({"scopes": ""}, {"scopes": "*"}),
        ({"expiry": "2999-12-31"}, {"expiry": "2999-12-31T00:00:00"}),
        ({"expiry": "2999-12-31T23:59:59Z"}, {"expiry": "2999-12-31T23:59:59"}),
        ({"expiry": "2999-12-31T23:59:59.987Z"}, {"expiry": "2999-12-31T23:59:59"}),
        ({"expiry": "2999-12-31T23:59:59.5"}, {"expiry": "2999-12-31T23:59:59"}),
        ({"expiry": "2999-12-31T23:59:59+00:00"}, {"expiry": "2999-12-31T23:59:59"}),
        ({"expiry": "2999-12-31T23:59:59-05:30"}, {"expiry": "3000-01-01T05:29:59"}),
    ],
)
async def test_what_is_accepted(client: Client, sent: Json, shown: Json) -> None:
    made = await client.post(TOKENS, sent)
    row = await client.get(f"{TOKENS}/{made['id']}")
    assert {name: row[name] for name in shown} == shown
    assert row == {**made, "token": made["token"][:16]}


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("label", "", "Length must be 1-100 characters"),
        ("label", "a" * 101, "Length must be 1-100 characters"),
        ("label", 5, "Must be a string"),
        ("scopes", " ", BAD_SCOPES),
        ("scopes", ",", BAD_SCOPES),
        ("scopes", "computes", BAD_SCOPES),
        ("scopes", "computes:write", BAD_SCOPES),
        ("scopes", "computes:Read_Only", BAD_SCOPES),
        ("scopes", "computes:read_only;events:read_only", BAD_SCOPES),
        ("scopes", "moon:read_only", BAD_SCOPES),
        ("scopes", "* events:read_only", BAD_SCOPES),
        ("scopes", "events:read_only " * 60, "Length must be 0-1000 characters"),
        ("scopes", ["events:read_only"], "Must be a string"),
        ("expiry", "", BAD_TIME),
        ("expiry", "tomorrow", BAD_TIME),
        ("expiry", "2999-13-01", BAD_TIME),
        ("expiry", "2999-12-31T", BAD_TIME),
        ("expiry", "2999-12-31T23:59", BAD_TIME),
        ("expiry", "2999-12-31T23:59:59 Z", BAD_TIME),
        ("expiry", "2999-12-31T23:59:59+99:00", BAD_TIME),
        ("expiry", "9999-12-31T23:59:59-10:00", BAD_TIME),
        ("expiry", "2999-12-31T23:59:59." + "0" * 200, BAD_TIME),
        ("expiry", "2999-12-31T23:59:59." + "0" * 5000, "Length must be 0-255 characters"),
        ("expiry", "2999-12-31 23:59:59", BAD_TIME),
        ("expiry", "2999-02-30T00:00:00", BAD_TIME),
        ("expiry", "2999-12-31T24:00:00", BAD_TIME),
        ("expiry", "0000-01-01T00:00:00", BAD_TIME),
        ("expiry", "2001-01-01T00:00:00", "Must be in the future"),
        ("expiry", 5, "Must be a string"),
    ],
)
async def test_what_is_refused_makes_no_token(
    client: Client, field: str, value: Json, reason: str
) -> None:
    before = await client.get(TOKENS)
    answer = await client.send("POST", TOKENS, {"label": "ok", field: value})
    assert (answer.status, answer.problems) == (400, [(field, reason)])
    assert await client.get(TOKENS) == before
    assert await events(client) == []


async def test_all_errors_come_in_field_order(client: Client, nobody: Client) -> None:
    answer = await client.send("POST", TOKENS, {"expiry": "x", "scopes": "x", "label": ""})
    assert [field for field, _ in answer.problems] == ["label", "scopes", "expiry"]
    narrow = await client.post(TOKENS, {"scopes": "account:read_write"})
    late = {"scopes": "*", "expiry": "2001-01-01T00:00:00"}
    answer = await nobody.as_user(narrow["token"]).send("POST", TOKENS, late)
    assert answer.problems == [("scopes", TOO_WIDE), ("expiry", "Must be in the future")]


@pytest.mark.parametrize("label", ["", "a" * 101, 5])
async def test_labels_that_a_token_cannot_get(client: Client, label: Json) -> None:
    made = await client.post(TOKENS, {"label": "kept"})
    path = f"{TOKENS}/{made['id']}"
    assert (await client.send("PUT", path, {"label": label})).status == 400
    assert (await client.get(path))["label"] == "kept"


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        (None, True),
        ("account:read_write", True),
        ("account:read_only", True),
        ("account:read_only,events:read_only", True),
        ("events:read_write", False),
        ("account:read_write volumes:read_only", False),
        ("*", False),
    ],
)
async def test_never_more_than_the_token_in_use(
    nobody: Client, account: Account, new_token: NewToken, scopes: str | None, allowed: bool
) -> None:
    held = "account:read_write events:read_only"
    client = nobody.as_user(await new_token(account, held))
    answer = await client.send("POST", TOKENS, {"scopes": scopes})
    if allowed:
        assert answer.body["scopes"] == (scopes or held).replace(",", " ")
    else:
        assert (answer.status, answer.problems) == (400, [("scopes", TOO_WIDE)])


async def test_never_longer_than_the_token_in_use(
    nobody: Client, roost: Roost, account: Account, new_token: NewToken
) -> None:
    expiry = roost.clock.seconds() + timedelta(minutes=10)
    client = nobody.as_user(await new_token(account, expiry=expiry))
    for sent in ({}, {"expiry": None}, {"expiry": expiry.isoformat()}):
        assert (await client.post(TOKENS, sent))["expiry"] == expiry.isoformat()
    earlier = (expiry - timedelta(seconds=1)).isoformat()
    assert (await client.post(TOKENS, {"expiry": earlier}))["expiry"] == earlier
    late = {"expiry": (expiry + timedelta(seconds=1)).isoformat()}
    answer = await client.send("POST", TOKENS, late)
    reason = "Must not be later than the expiry of the token that you use"
    assert (answer.status, answer.problems) == (400, [("expiry", reason)])


async def test_a_hundred_tokens_and_no_more(
    client: Client, stranger: Client, roost: Roost, account: Account
) -> None:
    """Those that are over or revoked do not count; of many calls at once as many succeed as may."""
    now, scopes = roost.clock.seconds(), Scopes.parse("*")
    for age in [timedelta(days=1)] * 96 + [timedelta(seconds=-1)] * 3:
        await make_token(roost.store, roost.clock, account.user_id, "t", scopes, now + age)
    answers = await asyncio.gather(*(client.send("POST", TOKENS, {}) for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [200] * 3 + [400] * 5
    refused = next(answer for answer in answers if answer.status == 400)
    assert refused.problems == [(None, "You can have at most 100 personal access tokens.")]
    await stranger.post(TOKENS, {})
    made = next(answer.body for answer in answers if answer.status == 200)
    await client.delete(f"{TOKENS}/{made['id']}")
    await client.post(TOKENS, {})


async def test_a_token_ends_at_its_expiry(
    client: Client, nobody: Client, roost: Roost, account: Account
) -> None:
    past = roost.clock.seconds() - timedelta(seconds=1)
    over = await make_token(
        roost.store, roost.clock, account.user_id, "over", Scopes.parse("*"), past
    )
    assert (await nobody.as_user(over.text).send("GET", TOKENS)).status == 401
    assert over.id not in [row["id"] for row in (await client.get(TOKENS))["data"]]
    for method in ("GET", "PUT", "DELETE"):
        answer = await client.send(method, f"{TOKENS}/{over.id}", {} if method == "PUT" else None)
        assert answer.status == 404


@pytest.mark.parametrize("kind", ["oauth", "proxy"])
async def test_other_kinds_of_tokens_are_not_personal(
    client: Client, roost: Roost, account: Account, kind: str
) -> None:
    other = await make_token(
        roost.store, roost.clock, account.user_id, "other", Scopes.parse("*"), None
    )
    await roost.store.execute("update token set kind = $2 where id = $1", other.id, kind)
    assert other.id not in [row["id"] for row in (await client.get(TOKENS))["data"]]
    for method in ("GET", "PUT", "DELETE"):
        answer = await client.send(method, f"{TOKENS}/{other.id}", {} if method == "PUT" else None)
        assert answer.status == 404


async def test_tokens_of_a_colleague_are_not_ones_own(
    client: Client, roost: Roost, account: Account, nobody: Client, new_token: NewToken
) -> None:
    name = f"colleague-{account.id}"
    await client.post("/account/users", {"username": name, "email": "c@example.com"})
    user_id = await roost.store.fetchval("select id from api_user where username = $1", name)
    colleague = nobody.as_user(await new_token(Account(account.id, user_id, name)))
    made = await client.post(TOKENS, {})
    assert (await colleague.send("GET", f"{TOKENS}/{made['id']}")).status == 404
    assert (await colleague.send("DELETE", f"{TOKENS}/{made['id']}")).status == 404
    assert (await client.get(f"{TOKENS}/{made['id']}"))["id"] == made["id"]


async def test_proxy_users_make_no_tokens(
    nobody: Client, roost: Roost, new_account: NewAccount, new_token: NewToken
) -> None:
    proxied = await new_account()
    await roost.store.execute(
        "update api_user set user_type = 'proxy' where id = $1", proxied.user_id
    )
    client = nobody.as_user(await new_token(proxied))
    answer = await client.send("POST", TOKENS, {})
    assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])
    assert len((await client.get(TOKENS))["data"]) == 1


async def test_filters(client: Client) -> None:
    wanted = await client.post(TOKENS, {"label": "wanted"})
    found = await client.get(TOKENS, filter={"label": "wanted"})
    assert [row["id"] for row in found["data"]] == [wanted["id"]]
    by_time = {"created": {"+gte": wanted["created"]}, "+order_by": "created", "+order": "desc"}
    assert wanted["id"] in [r["id"] for r in (await client.get(TOKENS, filter=by_time))["data"]]
    answer = await client.send("GET", TOKENS, headers={"X-Filter": '{"scopes": "*"}'})
    assert answer.problems == [("X-Filter", "Cannot filter on scopes")]


async def test_a_kept_answer_shows_the_token_again_but_is_sealed(
    client: Client, roost: Roost, account: Account
) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await client.send("POST", TOKENS, {"label": "kept"}, headers)
    again = await client.send("POST", TOKENS, {"label": "kept"}, headers)
    assert (first.status, first.raw) == (200, again.raw)
    kept = await roost.store.fetchval(
        "select body from idempotency where account_id = $1", account.id
    )
    assert first.body["token"].encode() not in kept
