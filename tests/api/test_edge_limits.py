"""What one caller may take of the server, and what is left to others."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from roost.store import paging
from roost.web import turns
from roost.web.admission import LARGE
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, until
from tests.support.instances import INSTANCES
from tests.support.server import RunningRoost, running_roost, simulated

_WAITING = """
    select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'
"""

_LISTS = f"{_WAITING} and query like '%account_id = $1%limit%'"
"""Of requests alone: jobs of the clock wait for as long as they have to."""


@asynccontextmanager
async def held(running: RunningRoost, table: str) -> AsyncIterator[None]:
    """Whoever wants to read or write the table has to wait until the end of the block."""
    async with running.roost.store.transaction() as db:
        await db.execute(f"lock table {table} in access exclusive mode")
        yield


async def test_one_tenant_leaves_connections_to_others(
    running: RunningRoost,
    nobody: Client,
    client: Client,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
    stranger: Client,
) -> None:
    """Forty requests that wait in the database, of two users of an account."""
    second = nobody.as_user(await new_token(await new_user(account)))
    most = running.roost.settings.database_connections * 3 // 4
    async with held(running, "volume"):
        sent = [
            asyncio.create_task(each.send("GET", "/volumes"))
            for each in (client, second)
            for _ in range(20)
        ]
        await until(lambda: running.roost.store.fetchval(_WAITING), lambda n: n >= most)
        async with asyncio.timeout(60):
            assert (await stranger.send("GET", "/profile")).status == 200
        # A job, whose connections are others, may wait for the table too.
        waiting = await running.roost.store.fetchval(_WAITING)
        assert most <= waiting < running.roost.settings.database_connections
    assert {(await task).status for task in sent} <= {200, 503}


async def test_a_user_may_have_only_so_many_requests_at_once(
    running: RunningRoost, client: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MAX_OPEN", 3)
    async with held(running, "volume"):
        sent = [asyncio.create_task(client.send("GET", "/volumes")) for _ in range(3)]
        await until(lambda: running.roost.store.fetchval(_LISTS), lambda n: n == 3)
        refused = await client.send("GET", "/regions")
        assert (refused.status, refused.problems) == (429, [(None, "Too many requests at once")])
        assert refused.headers["Retry-After"] == "1"
        assert (await stranger.send("GET", "/regions")).status == 200
    assert {(await task).status for task in sent} == {200}
    assert (await client.send("GET", "/regions")).status == 200


async def test_a_list_may_take_so_long(
    running: RunningRoost, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    filtered = {"X-Filter": json.dumps({"label": {"+contains": "a"}})}
    with monkeypatch.context() as patched:
        patched.setattr(paging, "LIST_SECONDS", 0.5)
        async with held(running, "volume"):
            answer = await client.send("GET", "/volumes", headers=filtered)
            assert (answer.status, answer.problems) == (
                400,
                [("X-Filter", "The filter takes too long")],
            )
            assert (await client.send("GET", "/volumes")).status == 503
            await until(lambda: running.roost.store.fetchval(_LISTS), lambda n: n == 0)
    assert (await client.send("GET", "/volumes", headers=filtered)).status == 200


async def test_contains_looks_at_the_beginning_of_a_text_in_any_case(client: Client) -> None:
    texts = ("needle" + "x" * 2000, "x" * 1018 + "Needle", "x" * 1019 + "needle")
    body = {"domain": "contains.needles.example", "type": "master", "soa_email": "a@example.com"}
    domain = await client.post("/domains", body)
    path = f"/domains/{domain['id']}/records"
    made = [
        (await client.post(path, {"type": "TXT", "name": f"t{n}", "target": text}))["id"]
        for n, text in enumerate(texts)
    ]
    found = await client.get(path, filter={"target": {"+contains": "NEEDLE"}})
    assert [row["id"] for row in found["data"]] == made[:2]


async def test_answers_to_anybody_have_a_callers_headers(client: Client, account: Account) -> None:
    for method, path, status in (
        ("GET", "/nothing", 404),
        ("PATCH", INSTANCES, 405),
        ("OPTIONS", INSTANCES, 200),
    ):
        known = await client.send(method, path)
        assert known.status == status
        assert known.headers["X-OAuth-Scopes"] == "*"
        assert known.headers["X-Customer-UUID"]
        assert int(known.headers["X-RateLimit-Remaining"]) < int(known.headers["X-RateLimit-Limit"])
        assert int(known.headers["Retry-After"]) >= 1
        for token in (None, "f" * 64):
            stranger = await client.as_user(token).send(method, path)
            assert stranger.status == status
            assert stranger.headers["X-OAuth-Scopes"] == "unknown"
            assert "X-Customer-UUID" not in stranger.headers
            assert int(stranger.headers["X-RateLimit-Limit"]) >= 1
    assert "Access-Control-Allow-Credentials" not in known.headers


@pytest.mark.parametrize("path", ["/v4/openapi.json", "/v4beta/openapi.json"])
async def test_the_document_below_both_prefixes(running: RunningRoost, path: str) -> None:
    async with aiohttp.ClientSession(running.url) as session:
        async with session.get(path) as answer:
            assert (await answer.json())["openapi"] == "3.1.0"
        async with session.options(path) as answer:
            assert (answer.status, await answer.json()) == (200, {})
            assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"
            assert answer.headers["Access-Control-Allow-Origin"] == "*"
        async with session.delete(path) as answer:
            assert answer.status == 405


async def test_site_routes_have_a_limit_for_each_address(tmp_path: Path, database_url: str) -> None:
    settings = simulated(
        tmp_path, database_url, rate_limit_scale=0.01, trusted_proxies="127.0.0.1", lab=True
    )
    async with running_roost(settings) as running, aiohttp.ClientSession(running.url) as session:

        async def ask(path: str, client: str) -> tuple[int, str | None]:
            async with session.get(path, headers={"X-Forwarded-For": client}) as answer:
                return answer.status, answer.headers.get("Retry-After")

        site = ("/healthz", "/metrics", "/docs", "/v4/openapi.json", "/login", "/nothing")
        answers = [await ask(path, f"2001:db8::{n}") for n, path in enumerate(site)]
        assert all(status != 429 for status, _ in answers)
        for path in site:
            status, wait = await ask(path, "2001:db8::ffff")
            assert status == 429
            assert 1 <= int(wait or 0) <= 61
        assert (await ask("/healthz", "2001:db8:1::1"))[0] == 200
        assert (await ask("/v4/regions", "2001:db8::ffff"))[0] == 200
        assert (await ask("/lab/clock", "2001:db8::ffff"))[0] == 401


async def test_an_ipv6_network_is_one_stranger(tmp_path: Path, database_url: str) -> None:
    settings = simulated(tmp_path, database_url, rate_limit_scale=0.03, trusted_proxies="*")
    async with running_roost(settings) as running, aiohttp.ClientSession(running.url) as session:

        async def ask(client: str) -> int:
            async with session.get("/v4/volumes", headers={"X-Forwarded-For": client}) as answer:
                return answer.status

        assert [await ask(f"2001:db8::{n}") for n in range(4)] == [401, 401, 401, 429]
        assert await ask("2001:db8:0:1::1") == 401


async def test_large_bodies_have_a_limit_of_their_own(tmp_path: Path, database_url: str) -> None:
    settings = simulated(tmp_path, database_url, rate_limit_scale=0.0125)
    async with running_roost(settings) as running, aiohttp.ClientSession(running.url) as session:

        async def ask(characters: int) -> int:
            headers = {"Authorization": f"Bearer {running.token}"}
            body = {"ignored": "x" * characters}
            async with session.put("/v4/account/settings", json=body, headers=headers) as answer:
                return answer.status

        assert [await ask(LARGE) for _ in range(4)] == [200, 200, 200, 429]
        assert [await ask(LARGE - 100) for _ in range(3)] == [200] * 3


async def test_who_may_see_how_the_server_is_doing(tmp_path: Path, database_url: str) -> None:
    forwarded = {"X-Forwarded-For": "203.0.113.5"}
    for monitors, headers, sees in (
        ("127.0.0.0/8", {}, True),
        ("127.0.0.0/8", forwarded, False),
        ("10.0.0.0/8", {}, False),
    ):
        settings = simulated(tmp_path, database_url, monitors=monitors)
        async with running_roost(settings) as running, aiohttp.ClientSession() as session:
            async with session.get(f"{running.url}/metrics", headers=headers) as answer:
                assert answer.status == (200 if sees else 403)
            async with session.get(f"{running.url}/healthz", headers=headers) as answer:
                row = await answer.json()
            assert "status" in row
            assert ("engines" in row) == sees


async def test_urls_are_not_made_from_what_a_caller_says(running: RunningRoost) -> None:
    path = f"{running.url}/.well-known/oauth-authorization-server"
    port = running.url.rpartition(":")[2]
    async with aiohttp.ClientSession() as session:
        for host, issuer in (
            ("evil.example", running.url),
            ("evil.example:80", running.url),
            (f"localhost:{port}", f"http://localhost:{port}"),
        ):
            async with session.get(path, headers={"Host": host}) as answer:
                assert (await answer.json())["issuer"] == issuer


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
async def test_compressed_bodies_are_not_read(client: Client, encoding: str) -> None:
    headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
    answer = await client.send("POST", INSTANCES, data=b"\x1f\x8b", headers=headers)
    reason = "Content-Encoding is not supported: send the body as it is"
    assert (answer.status, answer.problems) == (415, [(None, reason)])
    assert answer.headers["Accept-Encoding"] == "identity"


async def test_identity_is_no_compression(client: Client) -> None:
    headers = {"Content-Encoding": "Identity", "Content-Type": "application/json"}
    answer = await client.send("POST", INSTANCES, data=b"{}", headers=headers)
    assert answer.problems[0] == ("type", "type is required")


NUMBER = "Must be a number of at most 64 bits"


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        (b'{"label": "x", "size": 1e400}', [("size", NUMBER)]),
        (b'{"label": "x", "size": ' + b"9" * 400 + b"}", [("size", NUMBER)]),
        (
            b'{"size": -' + b"9" * 5000 + b', "tags": [1e999]}',
            [("size", NUMBER), ("tags[0]", NUMBER)],
        ),
        (b'{"size": NaN}', [(None, "Invalid JSON")]),
        (b'{"size": Infinity, "label": 1e400}', [(None, "Invalid JSON")]),
        (b'{"size": 1e400,}', [(None, "Invalid JSON")]),
    ],
)
async def test_numbers_beyond_64_bits_are_named(
    client: Client, body: bytes, problems: list[tuple[str | None, str]]
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await client.send("POST", "/volumes", data=body, headers=headers)
    assert (answer.status, answer.problems) == (400, problems)


@pytest.mark.parametrize(("depth", "fits"), [(64, True), (65, False)])
async def test_sixty_four_levels_are_enough(client: Client, depth: int, fits: bool) -> None:
    inner = depth - 1  # The body itself is the first.
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        value = opening * (inner - 1) + ("[]" if opening == "[" else "{}") + closing * (inner - 1)
        body = f'{{"label": "x", "other": {value}}}'.encode()
        headers = {"Content-Type": "application/json"}
        answer = await client.send("PUT", "/profile/preferences", data=body, headers=headers)
        assert answer.status == (200 if fits else 400)
