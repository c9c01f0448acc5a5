"""Former revisions: an API that has had others, which never were, in front of the same server."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from ipaddress import ip_network

import pytest

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.scopes import Scopes
from roost.engines.webhook.receivers import HttpReceivers
from roost.resources.tokens.service import make_token
from roost.resources.webhooks.engine import Outside
from roost.web.headers import REVISION
from roost.web.registry import Registry
from roost.web.revisions.released import RELEASED
from roost.web.revisions.revisions import Revisions
from tests.api.conftest import Account
from tests.api.test_events import insert
from tests.support.apps import let_in
from tests.support.client import Client, Json, until
from tests.support.keys import KEY
from tests.support.oauth import App
from tests.support.receivers import Receiver, receiver
from tests.support.revisions import FIRST, SECOND, SPOKEN, Speaker, speaker
from tests.support.streams import reading

KNOWN = ", ".join(each.date for each in RELEASED)
DISK = {"size": 20, "region": "us-lake"}


@pytest.fixture(scope="module")
async def speaking(roost: Roost) -> AsyncIterator[Speaker]:
    async with speaker(roost, Registry(GROUPS.endpoints)) as found:
        yield found


@pytest.fixture
def first(speaking: Speaker, client: Client) -> Client:
    return speaking.client(FIRST, client.token)


@pytest.fixture
def second(speaking: Speaker, client: Client) -> Client:
    return speaking.client(SECOND, client.token)


@pytest.fixture
def newest(speaking: Speaker, client: Client) -> Client:
    return speaking.client(REVISION, client.token)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, roost: Roost) -> Revisions:
    """The server itself knows them."""
    revisions = roost.services.get(Revisions)
    monkeypatch.setattr(revisions, "released", SPOKEN)
    monkeypatch.setattr(revisions, "known", tuple(each.date for each in SPOKEN))
    monkeypatch.setattr(revisions, "_spoken", {})
    return revisions


@pytest.fixture
async def hook(monkeypatch: pytest.MonkeyPatch, roost: Roost) -> AsyncIterator[Receiver]:
    """On this machine, which is allowed."""
    receivers = roost.services.get(Outside).receivers
    assert isinstance(receivers, HttpReceivers)
    monkeypatch.setattr(receivers, "_allowed", [ip_network("127.0.0.1/32")])
    async with receiver() as found:
        yield found


async def test_each_answer_says_which_it_speaks(
    client: Client, first: Client, newest: Client
) -> None:
    for each, date in ((client, REVISION), (first, FIRST), (newest, REVISION)):
        for path, status in (("/regions", 200), ("/volumes/999999999", 404)):
            answer = await each.send("GET", path)
            assert (answer.status, answer.headers["Roost-Revision"]) == (status, date)
            assert "Roost-Revision" in answer.headers["Vary"]


@pytest.mark.parametrize(
    "date", ["1999-01-01", "", "2026-11", "x" * 5000, "2026-11-27, 2026-11-27"]
)
async def test_one_that_is_not_known_is_refused(client: Client, date: str) -> None:
    label = "not-made"
    answer = await client.send(
        "POST", "/volumes", {"label": label, **DISK}, headers={"Roost-Revision": date}
    )
    assert answer.status == 400
    assert answer.problems == [("Roost-Revision", f"Must be one of {KNOWN}")]
    assert (await client.get("/volumes"))["results"] == 0


async def test_who_may_not_is_told_so_first(nobody: Client) -> None:
    headers = {"Roost-Revision": "1999-01-01"}
    assert (await nobody.send("GET", "/volumes", headers=headers)).status == 401
    assert (await nobody.send("GET", "/regions", headers=headers)).status == 400
    assert (await nobody.send("GET", "/nowhere", headers=headers)).status == 404


async def test_a_volume_in_three_revisions(first: Client, second: Client, newest: Client) -> None:
    made = await first.post("/volumes", {"title": "data", "label": "ignored", **DISK})
    path = f"/volumes/{made['id']}"
    assert (made["title"], made["zone"]) == ("data", "us-lake-a")
    assert {"label", "name", "hardware_type"}.isdisjoint(made)
    now = await newest.get(path)
    assert now["label"] == "data"
    assert {"title", "name", "zone"}.isdisjoint(now)
    assert (await second.put(path, {"name": "more", "title": "ignored"}))["name"] == "more"
    listed = await first.get("/volumes")
    assert [each["title"] for each in listed["data"]] == ["more"]
    assert listed["data"][0]["status"] in ("ready", "creating")
    assert (await newest.get(path))["label"] == "more"


async def test_errors_name_fields_as_they_were_sent(first: Client, second: Client) -> None:
    for client, name in ((first, "title"), (second, "name")):
        answer = await client.send("POST", "/volumes", {name: "", **DISK})
        assert [field for field, _ in answer.problems] == [name]
    rule: Json = {"proto": "NO", "action": "ACCEPT", "ports": "22"}
    policy: Json = {
        "inbound": [rule],
        "inbound_policy": "DROP",
        "outbound": [],
        "outbound_policy": "ACCEPT",
    }
    answer = await first.send("POST", "/networking/firewalls", {"policy": policy})
    fields = [field for field, _ in answer.problems]
    assert "policy.inbound[0].proto" in fields
    assert not [each for each in fields if each is not None and "rules" in each]


async def test_a_field_that_has_become_two(first: Client, newest: Client, account: Account) -> None:
    name = f"r{account.id}.example"
    sent = {"domain": name, "type": "primary", "soa_email": "a@example.org", "times": "300/3600"}
    made = await first.post("/domains", sent)
    assert (made["type"], made["times"]) == ("primary", "300/3600")
    assert {"retry_sec", "refresh_sec"}.isdisjoint(made)
    now = await newest.get(f"/domains/{made['id']}")
    assert (now["type"], now["retry_sec"], now["refresh_sec"]) == ("master", 300, 3600)
    answer = await first.send("POST", "/domains", {**sent, "domain": f"x{name}", "times": "often"})
    assert [field for field, _ in answer.problems] == ["times"]
    later = await first.send("POST", "/domains", {**sent, "domain": f"y{name}", "type": "master"})
    assert [field for field, _ in later.problems] == ["type"]


async def test_a_field_that_stood_elsewhere(first: Client, newest: Client) -> None:
    body = {"region": "us-lake", "type": "g1-nano-1"}
    made = await first.post("/compute/instances", body)
    path = f"/compute/instances/{made['id']}"
    assert made["v4"]
    assert "memory" not in made["specs"]
    now = await newest.get(path)
    assert made["hardware"] == {"memory": now["specs"]["memory"]}
    assert (await first.get(path))["v4"] == now["ipv4"]


async def test_filters(first: Client, newest: Client) -> None:
    for title in ("one", "two"):
        await newest.post("/volumes", {"label": title, **DISK})
    found = await first.get("/volumes", filter={"+or": [{"title": "two"}, {"title": "none"}]})
    assert [each["title"] for each in found["data"]] == ["two"]
    ordered = await first.get("/volumes", filter={"+order_by": "title", "+order": "desc"})
    assert [each["title"] for each in ordered["data"]] == ["two", "one"]
    for field in ("label", "name"):
        for wanted in ({field: "one"}, {"+and": [{field: "one"}]}, {"+order_by": field}):
            answer = await first.send("GET", "/volumes", headers={"X-Filter": json.dumps(wanted)})
            reason = "order by" if "+order_by" in wanted else "filter on"
            assert answer.problems == [("X-Filter", f"Cannot {reason} {field}")]


async def test_words_in_filters(first: Client, account: Account) -> None:
    made = await first.post(
        "/domains", {"domain": f"w{account.id}.example", "type": "primary", "soa_email": "a@b.org"}
    )
    for word, ids in (("primary", [made["id"]]), ("slave", []), ("master", [])):
        headers = {"X-Filter": json.dumps({"type": {"+or": [word]}})}
        answer = await first.send("GET", "/domains", headers=headers)
        if answer.status == 200:  # Types of domains may be no field to filter by.
            assert [each["id"] for each in answer.body["data"]] == ids


async def test_events_in_lists_and_streams(first: Client, second: Client, newest: Client) -> None:
    made = await newest.post("/volumes", {"label": "told", **DISK})
    wanted = {"entity.kind": "volume", "entity.id": made["id"], "did": "volume_create"}
    (event,) = (await first.get("/account/events", filter=wanted))["data"]
    assert (event["did"], event["entity"]["kind"]) == ("volume_create", "volume")
    assert {"action", "what"}.isdisjoint(event)
    assert (await second.get(f"/account/events/{event['id']}"))["what"] == "volume_create"
    answer = await first.send("GET", "/account/events", headers={"X-Filter": '{"action": "x"}'})
    assert answer.problems == [("X-Filter", "Cannot filter on action")]


async def test_a_version_is_of_one_revision(first: Client, second: Client, newest: Client) -> None:
    key = await newest.post("/profile/sshkeys", {"label": "kept", "ssh_key": KEY})
    path = f"/profile/sshkeys/{key['id']}"
    clients = (first, second, newest)
    tags = [(await each.send("GET", path)).headers["ETag"] for each in clients]
    assert len(set(tags)) == 3
    for each, own in zip(clients, tags, strict=True):
        for tag in tags:
            wanted = {"If-None-Match": f'"x", W/{tag}'}
            found = await each.send("GET", path, headers=wanted)
            assert found.status == (304 if tag == own else 200)
            assert found.headers["ETag"] == own
            wrote = await each.send("PUT", path, {"label": "kept"}, headers={"If-Match": tag})
            assert wrote.status == (200 if tag == own else 412)


async def test_a_key_is_of_one_revision(first: Client, newest: Client) -> None:
    headers = {"Idempotency-Key": "made-once"}
    body = {"title": "once", **DISK}
    made = await first.send("POST", "/volumes", body, headers=headers)
    again = await first.send("POST", "/volumes", body, headers=headers)
    assert (made.status, again.raw) == (200, made.raw)
    assert made.body["title"] == "once"
    other = await newest.send("POST", "/volumes", {"label": "once", **DISK}, headers=headers)
    assert other.problems == [("Idempotency-Key", "This key was used for another request")]


async def test_what_is_no_json_is_refused_as_always(first: Client, newest: Client) -> None:
    for data in (b"{", b"[]", b'"x"', b"\xff", b'{"title": "\xff"}', b"[" * 5000):
        headers = {"Content-Type": "application/json"}
        found, wanted = [
            await each.send("POST", "/volumes", data=data, headers=headers)
            for each in (first, newest)
        ]
        assert (found.status, len(found.problems)) == (400, len(wanted.problems))


async def test_a_token_speaks_its_own(
    speaking: Speaker, client: Client, linode: Client, known: Revisions
) -> None:
    made = await client.post("/profile/tokens", {"label": "kept", "scopes": "*"})
    assert made["revision"] == REVISION
    path = f"/profile/tokens/{made['id']}"
    by_token = speaking.client(FIRST, made["token"], header=False)
    admin = speaking.client(REVISION, client.token)
    assert (await admin.put(path, {"revision": FIRST}))["revision"] == FIRST
    assert (await by_token.post("/volumes", {"title": "mine", **DISK}))["title"] == "mine"
    header = speaking.client(REVISION, made["token"])
    assert [each["label"] for each in (await header.get("/volumes"))["data"]] == ["mine"]
    # A dialect has the newest alone.
    there = linode.as_user(made["token"])
    assert [each["label"] for each in (await there.get("/volumes"))["data"]] == ["mine"]
    answer = await there.send("GET", "/volumes", headers={"Roost-Revision": FIRST})
    assert answer.problems == [("Roost-Revision", f"Must be one of {REVISION}")]


async def test_a_token_is_set_to_what_is_known_alone(client: Client) -> None:
    problem = [("revision", f"Must be one of {KNOWN}")]
    answer = await client.send("POST", "/profile/tokens", {"revision": "1999-01-01"})
    assert answer.problems == problem
    made = await client.post("/profile/tokens", {"revision": REVISION, "scopes": "*"})
    path = f"/profile/tokens/{made['id']}"
    answer = await client.send("PUT", path, {"label": "other", "revision": "1999-01-01"})
    assert answer.problems == problem
    assert (await client.get(path))["label"] == made["label"]


async def test_what_is_new_is_the_newest(roost: Roost, client: Client) -> None:
    """What rows get that say nothing; a release with another revision changes it."""
    defaults = await roost.store.fetch(
        "select table_name, column_default from information_schema.columns"
        " where column_name = 'revision' and table_name in ('token', 'oauth_client', 'webhook')"
    )
    assert {row["table_name"]: row["column_default"] for row in defaults} == dict.fromkeys(
        ("token", "oauth_client", "webhook"), f"'{REVISION}'::text"
    )


async def test_an_applications_tokens_speak_as_it_did_when_it_was_registered(
    speaking: Speaker, roost: Roost, account: Account, client: Client, app: App
) -> None:
    """However new they are."""
    store = roost.store
    await store.execute("update oauth_client set revision = $2 where id = $1", app.id, FIRST)
    app_id = await let_in(roost, account.user_id, app.id)
    made = await make_token(
        store, roost.clock, account.user_id, "app", Scopes.parse("*"), None, "oauth", app_id
    )
    await client.post("/volumes", {"label": "of-an-app", **DISK})
    by_app = speaking.client(FIRST, made.text, header=False)
    assert [each["title"] for each in (await by_app.get("/volumes"))["data"]] == ["of-an-app"]


async def test_a_stream_and_a_webhook_tell_in_their_revision(
    speaking: Speaker,
    client: Client,
    roost: Roost,
    account: Account,
    hook: Receiver,
    known: Revisions,
) -> None:
    token = await client.post("/profile/tokens", {"revision": FIRST, "scopes": "*"})
    body = {"label": "x", "url": hook.url, "actions": ["tag_create"]}
    first = speaking.client(FIRST, client.token)
    row = await first.post("/account/webhooks", body)
    assert row["revision"] == FIRST
    hook.secrets = (row["secret"],)
    async with reading(speaking.url, token["token"], "?action=tag_create") as reader:
        await insert(roost, account, age=timedelta(), label="told")
        streamed = (await reader.event()).data
    assert (streamed["did"], streamed["entity"]["label"]) == ("tag_create", "told")
    assert {"action", "what"}.isdisjoint(streamed)
    missed = "/events/stream?action=tag_create&seconds=0"
    answer = await first.send("GET", missed, headers={"Last-Event-ID": "1"})
    (told,) = [line for line in answer.raw.splitlines() if line.startswith(b"data: ")]
    assert json.loads(told.removeprefix(b"data: ")) == streamed

    async def taken() -> list[Json]:
        return hook.taken

    (sent,) = await until(taken, lambda found: len(found) > 0)
    assert sent == streamed
    path = f"/account/webhooks/{row['id']}"
    assert (await client.put(path, {"revision": REVISION}))["revision"] == REVISION
    await insert(roost, account, age=timedelta(), label="newer")
    _, newer = await until(taken, lambda found: len(found) > 1)
    assert (newer["action"], newer["entity"]["label"]) == ("tag_create", "newer")
    answer = await client.send("PUT", path, {"revision": "1999-01-01"})
    assert [field for field, _ in answer.problems] == ["revision"]


async def test_the_newest_costs_nothing(
    roost: Roost, speaking: Speaker, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of a former revision is looked at."""

    def fail(*_: object) -> None:
        raise AssertionError("a former revision was asked for")

    monkeypatch.setattr("roost.web.revisions.revisions.Revisions.spoken", fail)
    for header in (True, False):
        each = speaking.client(REVISION, client.token, header=header)
        assert (await each.send("GET", "/volumes")).status == 200
