"""OAuth clients over HTTP (spec B, Account rule 8 and OAuth client request fields)."""

import re

import pytest

from roost.app.roost import Roost
from roost.secrets import hash_token
from tests.api.conftest import Account
from tests.support.client import Client, Json

CLIENTS = "/account/oauth-clients"
WEB = "https://app.example.com/done"
APP = "com.example.app:/done"

pytestmark = pytest.mark.spec("B oauth-clients redirect_uri")


def body(**changes: object) -> Json:
    return {"label": "app", "redirect_uri": WEB, **changes}


async def actions(client: Client) -> list[str]:
    return [event["action"] for event in (await client.get("/account/events"))["data"]]


async def stored_secret(roost: Roost, client_id: str) -> bytes:
    row = await roost.store.fetchrow(
        "select secret_hash from oauth_client where id = $1", client_id
    )
    assert row is not None
    return bytes(row["secret_hash"])


@pytest.mark.spec(
    "B oauth-clients list",
    "B oauth-clients create",
    "B oauth-clients view",
    "B oauth-clients update",
    "B oauth-clients delete",
    "B oauth-clients public",
)
async def test_the_life_of_a_client(client: Client) -> None:
    made = await client.post(CLIENTS, body())
    assert re.fullmatch(r"[0-9a-f]{20}", made["id"])
    assert made == {
        "id": made["id"],
        "redirect_uri": WEB,
        "label": "app",
        "status": "active",
        "secret": "<REDACTED>",
        "thumbnail_url": None,
        "public": False,
    }
    path = f"{CLIENTS}/{made['id']}"
    assert await client.get(path) == made
    changed = await client.put(path, {"label": "new", "public": True, "redirect_uri": APP})
    assert changed == {**made, "label": "new", "public": True, "redirect_uri": APP}
    assert await client.put(path, changed) == changed
    assert (await client.get(CLIENTS))["data"] == [changed]
    assert await client.delete(path) == {}
    assert (await client.send("GET", path)).status == 404
    created, *updated, deleted = reversed(await actions(client))
    assert (created, deleted) == ("oauth_client_create", "oauth_client_delete")
    assert updated == ["oauth_client_update"] * 2


async def test_clients_are_listed_by_age(client: Client) -> None:
    ids = [(await client.post(CLIENTS, body(label=f"app{n}")))["id"] for n in range(12)]
    assert [row["id"] for row in (await client.get(CLIENTS))["data"]] == ids


async def test_the_other_spelling_of_a_reset(client: Client) -> None:
    path = f"{CLIENTS}/{(await client.post(CLIENTS, body()))['id']}"
    secrets = {(await client.post(f"{path}/reset{c}secret"))["secret"] for c in "-_"}
    assert len(secrets) == 2
    assert (await actions(client))[:2] == ["oauth_client_secret_reset"] * 2


async def test_events_name_the_client(client: Client) -> None:
    made = await client.post(CLIENTS, body())
    (event,) = (await client.get("/account/events"))["data"]
    assert event["status"] == "notification"
    assert event["entity"] == {
        "id": made["id"],
        "label": "app",
        "type": "oauth_client",
        "url": f"/v4{CLIENTS}/{made['id']}",
    }


@pytest.mark.spec("B oauth-clients reset", "B oauth-clients secret", "B account 8")
async def test_a_reset_shows_the_secret_once_and_ends_the_old_one(
    client: Client, roost: Roost
) -> None:
    made = await client.post(CLIENTS, body())
    path = f"{CLIENTS}/{made['id']}"
    first = await client.post(f"{path}/reset-secret")
    assert re.fullmatch(r"[0-9a-f]{64}", first["secret"])
    assert {**first, "secret": "<REDACTED>"} == made
    assert await stored_secret(roost, made["id"]) == hash_token(first["secret"])
    second = await client.post(f"{path}/reset-secret")
    assert second["secret"] != first["secret"]
    assert await stored_secret(roost, made["id"]) == hash_token(second["secret"])
    assert (await client.get(path))["secret"] == "<REDACTED>"
    assert (await actions(client))[0] == "oauth_client_secret_reset"


async def test_filters(client: Client) -> None:
    await client.post(CLIENTS, body(label="one"))
    await client.post(CLIENTS, body(label="two", public=True))
    for wanted, labels in (({"label": "one"}, ["one"]), ({"public": True}, ["two"])):
        rows = (await client.get(CLIENTS, filter=wanted))["data"]
        assert [row["label"] for row in rows] == labels
    answer = await client.send("GET", CLIENTS, headers={"X-Filter": '{"status":"active"}'})
    assert answer.problems == [("X-Filter", "Cannot filter on status")]


@pytest.mark.spec("B oauth-clients label")
async def test_what_is_missing_is_told_together(client: Client, account: Account) -> None:
    answer = await client.send("POST", CLIENTS, {"public": "yes"})
    assert answer.problems == [
        ("label", "label is required"),
        ("public", "Must be true or false"),
        ("redirect_uri", "redirect_uri is required"),
    ]
    assert (await client.get(CLIENTS))["results"] == 0
    assert await actions(client) == []


@pytest.mark.spec("B oauth-clients label")
@pytest.mark.parametrize(("length", "good"), [(0, False), (1, True), (512, True), (513, False)])
async def test_labels(client: Client, length: int, good: bool) -> None:
    answer = await client.send("POST", CLIENTS, body(label="ä" * length))
    if good:
        assert answer.body["label"] == "ä" * length
    else:
        assert answer.problems == [("label", "Length must be 1-512 characters")]


@pytest.mark.parametrize(
    "uri",
    [
        WEB,
        "https://app.example.com",
        "https://app.example.com/?next=/a%2Fb&x=[1]",
        "https://APP.example.com/Done/../done",
        "https://app.example.com:8443/done/",
        "http://localhost:3000/oauth/callback",
        "http://127.0.0.1/done",
        "http://[::1]:8080/done",
    ],
)
async def test_web_redirects_are_kept_as_sent(client: Client, uri: str) -> None:
    made = await client.post(CLIENTS, body(redirect_uri=uri))
    assert made["redirect_uri"] == uri


@pytest.mark.parametrize(
    "uri",
    [
        "app.example.com/done",
        "/done",
        "//app.example.com/done",
        "https:///done",
        "https://",
        "https:app.example.com",
        "https://app.example.com/done#here",
        "https://app.example.com/#",
        "https://me@app.example.com/done",
        "https://me:pw@app.example.com/done",
        "https://app.example.com\\@evil.example/done",
        "https://app.example.com:port/done",
        "https://app.example.com:0/done",
        "https://app.example.com:65536/done",
        "http://a:\u0661\u0662/",
        "http://[:::]/",
        "http://[1::2::3]/",
        "https://app.example.com/a b",
        "https://app.example.com/\n",
        "https://app.example.com/done\r\nX: y",
        " https://app.example.com/done",
        "https://*.example.com/done",
        "https://äpp.example.com/done",
        "https://app.example.com;script-src *",
        "HTTPS://app.example.com/done",
        "ftp://app.example.com/done",
        "javascript:alert(1)",
        "data:text/html,hello",
        "file:///etc/passwd",
        "myapp://done",
        "com.example.app:done",
        "Com.Example.app:/done",
    ],
)
@pytest.mark.parametrize("public", [False, True])
async def test_other_redirects_are_refused(client: Client, uri: str, public: bool) -> None:
    answer = await client.send("POST", CLIENTS, body(redirect_uri=uri, public=public))
    reason = "Must be an absolute http or https URL without user info and fragment"
    assert answer.problems == [("redirect_uri", reason)]


async def test_length_of_redirects(client: Client) -> None:
    longest = WEB + "/" + "a" * (2047 - len(WEB))
    assert (await client.post(CLIENTS, body(redirect_uri=longest)))["redirect_uri"] == longest
    for uri in ("", longest + "a"):
        answer = await client.send("POST", CLIENTS, body(redirect_uri=uri))
        assert answer.problems == [("redirect_uri", "Length must be 1-2048 characters")]


async def test_schemes_of_apps_are_for_public_clients(client: Client) -> None:
    refusal = [("redirect_uri", "Only a public client may be redirected to an app's own scheme")]
    answer = await client.send("POST", CLIENTS, body(redirect_uri=APP))
    assert answer.problems == refusal
    made = await client.post(CLIENTS, body(redirect_uri=APP, public=True))
    path = f"{CLIENTS}/{made['id']}"
    assert (await client.send("PUT", path, {"public": False})).problems == refusal
    changed = await client.put(path, {"public": False, "redirect_uri": WEB})
    assert (changed["public"], changed["redirect_uri"]) == (False, WEB)
    assert (await client.send("PUT", path, {"redirect_uri": APP})).problems == refusal
    assert await client.get(path) == changed
