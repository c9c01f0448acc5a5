"""Several reads in one request: each as if it had come by itself."""

import asyncio
import json
from datetime import timedelta
from urllib.parse import quote

import pytest

from roost.app.roost import Roost
from roost.resources.batch import rules, service
from roost.web.call import Ask, Asked
from roost.web.rates import RateLimiter
from roost.web.registry import Rate
from roost.web.reply import Reply
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Answer, Client, Json, until
from tests.support.narrowing import narrowed

BATCH = "/batch"
DISK = {"size": 20, "region": "us-lake"}


async def volume(client: Client, label: str) -> Json:
    """One on which nothing is at work any more."""
    made = await client.post("/volumes", {"label": label, **DISK})
    path = f"/volumes/{made['id']}"
    await until(lambda: client.get("/account/events"), _all_done)
    return await client.get(path)


def _all_done(events: Json) -> bool:
    return {each["status"] for each in events["data"]} <= {"finished", "notification"}


async def asked(client: Client, *requests: Json) -> list[Json]:
    found = await client.post(BATCH, {"requests": list(requests)})
    answers: list[Json] = found["answers"]
    assert [each["path"] for each in answers] == [each["path"] for each in requests]
    return answers


async def ask(client: Client, *paths: str) -> list[Json]:
    return await asked(client, *({"path": f"/v4{path}"} for path in paths))


async def alone(client: Client, path: str, **headers: str) -> Answer:
    return await client.send("GET", path, headers=headers)


async def test_each_is_answered_as_by_itself(client: Client, stranger: Client) -> None:
    made = await volume(client, "data")
    theirs = await volume(stranger, "theirs")
    paths = (
        "/profile",
        "/volumes?page_size=25",
        "/volumes?page_size=1",
        f"/volumes/{theirs['id']}",
        "/nowhere",
        "/profile/explain?method=POST&path=/v4/volumes",
        f"/profile/sshkeys/{made['id']}/",
        "/account/events?page=9999",
        "/regions",
        "/images/roost%2Fdebian12",
        "/images/roost/debian12",
    )
    for path, found in zip(paths, await ask(client, *paths), strict=True):
        by_itself = await alone(client, path)
        assert (found["status"], found["body"]) == (by_itself.status, by_itself.body), path
        assert found["etag"] == by_itself.headers.get("ETag")
    assert {each["status"] for each in await ask(client, *paths[:6])} == {200, 400, 404}


async def test_filters_and_versions(client: Client) -> None:
    for label in ("one", "two"):
        await client.post("/vpcs", {"label": label, "region": "us-lake"})
    (key,) = await ask(client, "/profile/sshkeys")
    filtered, bad, known, other = await asked(
        client,
        {"path": "/v4/vpcs", "filter": {"label": "two"}},
        {"path": "/v4/vpcs", "filter": {"nothing": 1}},
        {"path": "/v4/profile/sshkeys", "if_none_match": key["etag"]},
        {"path": "/v4/profile/sshkeys", "if_none_match": '"x"'},
    )
    assert [each["label"] for each in filtered["body"]["data"]] == ["two"]
    assert bad["status"] == 400
    assert bad["body"]["errors"] == [{"field": "X-Filter", "reason": "Cannot filter on nothing"}]
    assert (known["status"], known["body"], known["etag"]) == (304, None, key["etag"])
    assert (other["status"], other["body"]) == (200, key["body"])


@pytest.mark.parametrize(
    "path",
    ["/events/stream", "/events/stream?seconds=0", "/account/events?wait=1", "/profile?wait=0"],
)
async def test_what_can_only_be_asked_for_by_itself(client: Client, path: str) -> None:
    refused, fine = await ask(client, path, "/profile")
    reasons = [each["reason"] for each in refused["body"]["errors"]]
    assert (refused["status"], reasons) == (400, ["This can only be asked for by itself"])
    assert fine["status"] == 200


async def test_writes_are_none_of_it(client: Client) -> None:
    (answer,) = await ask(client, "/batch")
    assert answer["status"] == 405


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["requests"]),
        ({"requests": []}, ["requests"]),
        ({"requests": [{"path": "/v4/profile"}] * (rules.MOST + 1)}, ["requests"]),
        ({"requests": [{}]}, ["requests[0].path"]),
        ({"requests": ["/v4/profile"]}, ["requests[0]"]),
        (
            {"requests": [{"path": "/v4/profile"}, {"path": "/profile"}, {"path": "/v4/ü"}]},
            ["requests[1].path", "requests[2].path"],
        ),
        ({"requests": [{"path": "/v4/a\r\nX: y"}]}, ["requests[0].path"]),
        ({"requests": [{"path": "http://elsewhere/v4/x"}]}, ["requests[0].path"]),
        ({"requests": [{"path": "/v4/healthz/../../healthz#x"}]}, ["requests[0].path"]),
        ({"requests": [{"path": "/v4/" + "x" * 3000}]}, ["requests[0].path"]),
        (
            {"requests": [{"path": "/v4/volumes", "filter": {"label": "x" * 9000}}]},
            ["requests[0].filter"],
        ),
        ({"requests": [{"path": "/v4/volumes", "filter": "x"}]}, ["requests[0].filter"]),
    ],
)
async def test_bad_batches(client: Client, body: Json, fields: list[str]) -> None:
    answer = await client.send("POST", BATCH, body)
    assert answer.status == 400
    assert [field for field, _ in answer.problems] == fields


async def test_nobody_is_told_anything(nobody: Client) -> None:
    body = {"requests": [{"path": "/v4/regions"}]}
    assert (await nobody.send("POST", BATCH, body)).status == 401


async def test_scopes_and_grants_are_those_of_each(
    nobody: Client, account: Account, new_user: NewUser, new_token: NewToken, client: Client
) -> None:
    made = await volume(client, "data")
    restricted = nobody.as_user(await new_token(await new_user(account, restricted=True)))
    narrow = nobody.as_user(await new_token(account, "volumes:read_only"))
    paths = (
        "/profile",
        "/volumes",
        f"/volumes/{made['id']}",
        "/account/users",
        "/account/invoices",
    )
    for each in (restricted, narrow):
        answers = await ask(each, *paths)
        wanted = [await alone(each, path) for path in paths]
        assert [a["status"] for a in answers] == [w.status for w in wanted]
        assert [a["body"] for a in answers] == [w.body for w in wanted]
    assert {a["status"] for a in await ask(narrow, *paths)} == {200, 401}


async def test_each_is_counted_by_its_own_limit(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    take = RateLimiter.take

    def count(self: RateLimiter, caller: int | str, bucket: str, rate: Rate) -> object:
        taken.append(bucket)
        window, in_time = take(self, caller, bucket, rate)
        return window, in_time and taken.count("general") <= 3

    monkeypatch.setattr(RateLimiter, "take", count)
    answers = await ask(client, *["/profile"] * 5)
    assert taken.count("send_batch") == 1
    assert taken.count("general") == 5
    assert sorted(each["status"] for each in answers) == [200, 200, 200, 429, 429]


async def test_a_key_is_asked_for_anew(client: Client, account: Account, roost: Roost) -> None:
    """Reads may be repeated; the key does no harm, and nothing large is kept for it."""
    wanted = {"label": {"+contains": "x" * 4000}}
    body = {"requests": [{"path": "/v4/tags"}, {"path": "/v4/volumes", "filter": wanted}]}
    headers = {"Idempotency-Key": "same"}
    first = await client.send("POST", BATCH, body, headers=headers)
    await client.post("/tags", {"label": "later"})
    second = await client.send("POST", BATCH, body, headers=headers)
    assert [each.body["answers"][0]["body"]["results"] for each in (first, second)] == [0, 1]
    kept = "select length(body) from idempotency where account_id = $1 and key = 'same'"
    assert await roost.store.fetchval(kept, account.id) < 100


def _answering(size: int) -> Ask:
    async def answer(request: Asked) -> Reply:
        return Reply(200, json.dumps("x" * size).encode())

    return answer


def _requests(*paths: str) -> list[Asked]:
    return [Asked(path) for path in paths]


async def test_all_together_are_of_a_size() -> None:
    size = rules.MOST_BYTES // 2 - 100
    found = json.loads(await service.answer_all(_answering(size), _requests(*["/v4/a"] * 4)))
    assert [each["status"] for each in found["answers"]] == [200, 200, 413, 413]
    assert "by itself" in found["answers"][3]["body"]["errors"][0]["reason"]


async def test_a_few_are_asked_for_at_once() -> None:
    now, most = 0, 0

    async def answer(request: Asked) -> Reply:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return Reply(200, b"{}")

    await service.answer_all(answer, _requests(*["/v4/a"] * rules.MOST))
    assert most == rules.AT_ONCE


async def test_what_takes_too_long_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the API does it: what is broken off is answered with 503."""
    monkeypatch.setattr(service, "SECONDS", timedelta(milliseconds=50).total_seconds())

    async def answer(request: Asked) -> Reply:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return Reply(503, b"{}")
        raise AssertionError

    found = json.loads(await service.answer_all(answer, _requests(*["/v4/a"] * 9)))
    assert {each["status"] for each in found["answers"]} == {503}


async def test_odd_queries(client: Client) -> None:
    label = quote("ä & b", safe="")
    (answer,) = await ask(client, f"/profile/explain?method=GET&path=/v4/tags/{label}")
    assert answer["status"] == 200


async def test_a_narrowed_token_asks_for_what_is_left(client: Client) -> None:
    """It may send batches from where it may ask at all, whatever else was taken from it."""
    left = narrowed(client, {"operations": ["list_tags"]})
    tags, profile = await ask(left, "/tags", "/profile")
    assert (tags["status"], profile["status"]) == (200, (await alone(left, "/profile")).status)
    assert profile["status"] in (401, 403)
