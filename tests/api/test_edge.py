"""The rulings of the HTTP edge: codes, bodies and headers (reference: errors)."""

import asyncio
from datetime import timedelta

import pytest

from roost.app.roost import Roost
from tests.api.conftest import Account, NewAccount, NewToken
from tests.support.client import Client

INSTANCES = "/compute/instances"
NOT_FOUND = b'{"errors":[{"reason":"Not found"}]}'
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("path", ["/nothing", "", "/", "/compute/instances/abc", "/regions/a/b/c"])
async def test_unknown_path_is_404_even_without_a_token(nobody: Client, path: str) -> None:
    answer = await nobody.send("GET", path)
    assert (answer.status, answer.raw) == (404, NOT_FOUND)


async def test_path_comes_before_method_before_token(nobody: Client) -> None:
    answer = await nobody.send("PATCH", INSTANCES)
    assert answer.status == 405
    assert answer.problems == [(None, "Method Not Allowed: PATCH")]
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS, POST"
    assert (await nobody.send("POST", INSTANCES, {})).status == 401


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer nonsense", "Bearer " + "0" * 64]
)
async def test_bad_tokens_are_401(nobody: Client, header: str) -> None:
    answer = await nobody.send("GET", INSTANCES, headers={"Authorization": header})
    assert (answer.status, answer.problems) == (401, [(None, "Invalid Token")])
    assert answer.headers["X-OAuth-Scopes"] == "unknown"


async def test_missing_and_unknown_tokens_get_the_same_body(nobody: Client) -> None:
    missing = await nobody.send("GET", INSTANCES)
    unknown = await nobody.as_user("f" * 64).send("GET", INSTANCES)
    assert (missing.status, missing.raw) == (unknown.status, unknown.raw)


async def test_expired_and_revoked_tokens_are_401(
    nobody: Client, roost: Roost, account: Account, new_token: NewToken
) -> None:
    past = roost.clock.seconds() - timedelta(seconds=1)
    expired = nobody.as_user(await new_token(account, expiry=past))
    assert (await expired.send("GET", INSTANCES)).status == 401
    later = nobody.as_user(await new_token(account, expiry=past + timedelta(hours=1)))
    assert (await later.send("GET", INSTANCES)).status == 200


async def test_scope_comes_before_grant_before_object(
    nobody: Client, new_account: NewAccount, new_token: NewToken
) -> None:
    restricted = await new_account(restricted=True)
    narrow = nobody.as_user(await new_token(restricted, "events:read_only"))
    answer = await narrow.send("GET", f"{INSTANCES}/1")
    assert answer.status == 401
    assert answer.problems == [(None, "Your OAuth token is not authorized to use this endpoint.")]
    wide = nobody.as_user(await new_token(restricted))
    answer = await wide.send("GET", f"{INSTANCES}/1")
    assert (answer.status, answer.problems) == (403, [(None, "Unauthorized")])


async def test_read_only_scope_does_not_write(
    nobody: Client, account: Account, new_token: NewToken
) -> None:
    reader = nobody.as_user(await new_token(account, "computes:read_only"))
    assert (await reader.send("GET", INSTANCES)).status == 200
    assert (await reader.send("POST", INSTANCES, {})).status == 401


@pytest.mark.parametrize(
    ("data", "content_type", "status", "reason"),
    [
        (b"{", "application/json", 400, "Invalid JSON"),
        (b"[]", "application/json", 400, "The body must be a JSON object"),
        (b"{}", "text/plain", 415, "Content-Type must be application/json"),
        (b"a=b", "application/x-www-form-urlencoded", 415, "Content-Type must be application/json"),
        (b" " * 1048577, "application/json", 413, "The body must not be larger than 1048576 bytes"),
    ],
)
async def test_unreadable_bodies(
    client: Client, data: bytes, content_type: str, status: int, reason: str
) -> None:
    headers = {"Content-Type": content_type}
    answer = await client.send("POST", INSTANCES, data=data, headers=headers)
    assert (answer.status, answer.problems) == (status, [(None, reason)])


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON"])
async def test_json_may_be_declared_in_several_ways(client: Client, content_type: str) -> None:
    headers = {"Content-Type": content_type}
    answer = await client.send("POST", INSTANCES, data=b"{}", headers=headers)
    assert answer.problems == [("type", "type is required"), ("region", "region is required")]


async def test_needless_queries_and_bodies_are_accepted(client: Client) -> None:
    first = (await client.get("/regions"))["data"][0]["id"]
    answer = await client.send(
        "GET", f"/regions/{first}?page=1&page_size=100", data=b"{}", headers=JSON
    )
    assert answer.status == 200
    assert (await client.send("GET", f"{INSTANCES}/?x=y")).status == 200


@pytest.mark.parametrize(
    ("query", "problems"),
    [
        ("page=0", [("page", "Must be 1 or greater")]),
        ("page=x", [("page", "Must be an integer")]),
        ("page_size=24", [("page_size", "Must be 25-500")]),
        ("page_size=501", [("page_size", "Must be 25-500")]),
        (
            "page=-1&page_size=0",
            [("page", "Must be 1 or greater"), ("page_size", "Must be 25-500")],
        ),
    ],
)
async def test_bad_pages(client: Client, query: str, problems: list[tuple[str, str]]) -> None:
    answer = await client.send("GET", f"{INSTANCES}?{query}")
    assert (answer.status, answer.problems) == (400, problems)


async def test_a_page_after_the_last_is_404(client: Client) -> None:
    assert (await client.send("GET", f"{INSTANCES}?page=2")).status == 404
    assert (await client.get(INSTANCES))["pages"] == 1


async def test_v4beta_answers_like_v4(client: Client) -> None:
    beta = await client._session.get(client._url + "/v4beta/regions")
    assert await beta.json() == await client.get("/regions")


@pytest.mark.spec("A versioning")
async def test_headers_of_every_answer(client: Client, roost: Roost) -> None:
    answer = await client.send("GET", INSTANCES)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["X-Spec-Version"] == "4.176.0"
    assert answer.headers["X-OAuth-Scopes"] == "*"
    assert answer.headers["X-Accepted-OAuth-Scopes"] == "computes:read_only"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert int(answer.headers["Retry-After"]) >= 1
    assert int(answer.headers["X-RateLimit-Remaining"]) < int(answer.headers["X-RateLimit-Limit"])
    assert len(answer.headers["X-Request-Id"]) == 16
    public = await client.as_user(None).send("GET", "/regions")
    assert public.headers["X-Accepted-OAuth-Scopes"] == "*"


async def test_head_and_options(client: Client) -> None:
    head = await client.send("HEAD", INSTANCES)
    assert (head.status, head.raw) == (200, b"")
    assert int(head.headers["Content-Length"]) > 2
    options = await client.as_user(None).send("OPTIONS", INSTANCES)
    assert options.status == 200
    assert "POST" in options.headers["Access-Control-Allow-Methods"]


async def test_idempotency_key(client: Client, stranger: Client) -> None:
    body = {"type": "g1-micro-1", "region": "us-lake"}
    headers = {"Idempotency-Key": "once"}
    answers = await asyncio.gather(
        *(client.send("POST", INSTANCES, body, headers=headers) for _ in range(50))
    )
    assert {answer.status for answer in answers} == {200}
    assert len({answer.raw for answer in answers}) == 1
    assert (await client.get(INSTANCES))["results"] == 1
    other = await client.send("POST", INSTANCES, {**body, "label": "other"}, headers=headers)
    assert other.problems == [("Idempotency-Key", "This key was used for another request")]
    assert (await stranger.send("POST", INSTANCES, body, headers=headers)).status == 200
    assert (await stranger.get(INSTANCES))["results"] == 1


async def test_idempotency_key_of_a_refused_request_is_free_again(client: Client) -> None:
    headers = {"Idempotency-Key": "second chance"}
    bad = {"type": "nonsense", "region": "us-lake"}
    assert (await client.send("POST", INSTANCES, bad, headers=headers)).status == 400
    good = {"type": "g1-micro-1", "region": "us-lake"}
    assert (await client.send("POST", INSTANCES, good, headers=headers)).status == 200


@pytest.mark.parametrize("key", ["", "x" * 256, "caf\xe9"])
async def test_bad_idempotency_keys(client: Client, key: str) -> None:
    answer = await client.send("POST", INSTANCES, {}, headers={"Idempotency-Key": key})
    assert answer.problems == [("Idempotency-Key", "Must be 1-255 printable ASCII characters")]
