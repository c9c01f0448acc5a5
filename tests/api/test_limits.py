"""What bounds a caller and a server: rates, sizes, and a stop while requests are in flight."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from roost.app.first_start import ADMIN
from roost.core.scopes import Scopes
from roost.resources.account.queries import find_user
from roost.resources.tokens.service import issue_token
from roost.store import Store
from tests.support.client import Client, Contract, until
from tests.support.instances import INSTANCES, PASSWORD, create_body, settled
from tests.support.server import RunningRoost, running_roost, simulated


@asynccontextmanager
async def talking(running: RunningRoost) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        yield Client(session, contract, running.url).as_user(running.token)


async def other_token(running: RunningRoost) -> str:
    roost = running.roost
    user_id = await find_user(roost.store, ADMIN)
    assert user_id is not None
    return await issue_token(roost.store, roost.clock, user_id, "other", Scopes.parse("*"))


async def other_user(running: RunningRoost, client: Client) -> Client:
    roost = running.roost
    body = {"username": "somebody", "email": "somebody@example.com", "restricted": False}
    await client.post("/account/users", body)
    user_id = await find_user(roost.store, "somebody")
    assert user_id is not None
    token = await issue_token(roost.store, roost.clock, user_id, "own", Scopes.parse("*"))
    return client.as_user(token)


async def test_rate_limits(tmp_path: Path, database_url: str) -> None:
    settings = simulated(tmp_path, database_url, rate_limit_scale=1)
    async with running_roost(settings) as running, talking(running) as client:
        answers = [await client.send("POST", INSTANCES, {}) for _ in range(21)]
        assert [answer.status for answer in answers] == [400] * 20 + [429]
        left = [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers]
        assert left == [*range(19, -1, -1), 0]
        refused = answers[-1]
        assert refused.problems == [(None, "Too many requests")]
        assert int(refused.headers["X-RateLimit-Limit"]) == 20
        assert 1 <= int(refused.headers["Retry-After"]) <= 30
        assert (await client.send("GET", INSTANCES)).status == 200
        other = client.as_user(await other_token(running))
        assert (await other.send("POST", INSTANCES, {})).status == 429, "a user has one limit"
        user = await other_user(running, client)
        assert (await user.send("POST", INSTANCES, {})).status == 400


async def test_callers_without_a_token_are_counted_by_address(
    tmp_path: Path, database_url: str
) -> None:
    settings = simulated(tmp_path, database_url, rate_limit_scale=0.002)
    async with running_roost(settings) as running, talking(running) as client:
        nobody = client.as_user(None)
        answers = [await nobody.send("GET", "/regions") for _ in range(4)]
        assert [answer.status for answer in answers] == [200] * 3 + [429]
        assert (await nobody.send("GET", "/compute/types")).status == 429
        assert (await client.send("GET", "/regions")).status == 200


async def test_no_limit_when_switched_off(tmp_path: Path, database_url: str) -> None:
    async with (
        running_roost(simulated(tmp_path, database_url)) as running,
        talking(running) as client,
    ):
        statuses = {(await client.send("POST", INSTANCES, {})).status for _ in range(30)}
        assert statuses == {400}


@pytest.mark.parametrize("chunked", [False, True])
async def test_bodies_that_are_too_large(tmp_path: Path, database_url: str, chunked: bool) -> None:
    settings = simulated(tmp_path, database_url, max_body=2000)

    async def pieces(size: int) -> AsyncIterator[bytes]:
        for _ in range(size // 100):
            yield b" " * 100

    async with running_roost(settings) as running, aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {running.token}", "Content-Type": "application/json"}
        for size, status in ((2000, 400), (2100, 413), (5_000_000, 413), (2000, 400)):
            data = pieces(size) if chunked else b" " * size
            url = f"{running.url}/v4{INSTANCES}"
            try:
                async with session.post(url, data=data, headers=headers) as response:
                    assert response.status == status
                    assert (await response.json())["errors"]
            except aiohttp.ClientOSError:
                assert status == 413
        assert await running.roost.store.fetchval("select count(*) from compute_instance") == 0


async def test_requests_in_flight_are_answered_when_it_stops(
    tmp_path: Path, database_url: str
) -> None:
    async with aiohttp.ClientSession() as session:
        async with running_roost(simulated(tmp_path, database_url)) as running:
            async with talking(running) as client:
                made = await client.post(INSTANCES, create_body())
                await settled(client, made["id"])
            store = running.roost.store
            held = asyncio.Event()
            lock = asyncio.create_task(_hold(store, made["id"], held, running.url))
            await held.wait()
            url = f"{running.url}/v4{INSTANCES}/{made['id']}"
            headers = {"Authorization": f"Bearer {running.token}"}
            sent = asyncio.create_task(
                session.put(url, json={"label": "in-flight"}, headers=headers)
            )
            await until(lambda: store.fetchval(_BLOCKED), lambda count: count == 1)
        await lock
        response = await sent
        assert response.status == 200
        assert (await response.json())["label"] == "in-flight"
    async with running_roost(simulated(tmp_path, database_url)) as again, talking(again) as client:
        assert (await client.get(f"{INSTANCES}/{made['id']}"))["label"] == "in-flight"


_BLOCKED = """
    select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'
"""


async def _hold(store: Store, compute_id: int, held: asyncio.Event, url: str) -> None:
    """Hold an instance's row until the server takes no more connections."""
    async with store.transaction() as db:
        await db.execute("update compute_instance set updated = updated where id = $1", compute_id)
        held.set()
        await until(lambda: _refused(url), bool)


async def _refused(url: str) -> bool:
    host, _, port = url.removeprefix("http://").partition(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return True
    writer.close()
    return False


async def test_the_access_log_holds_no_secrets(
    tmp_path: Path, database_url: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    settings = simulated(tmp_path, database_url, access_log=True)
    async with running_roost(settings) as running, talking(running) as client:
        body = create_body(metadata={"user_data": "c2VjcmV0LXVzZXItZGF0YQ=="})
        headers = {"Idempotency-Key": "secret-key", "X-Filter": '{"label": "secret-filter"}'}
        made = await client.send("POST", f"{INSTANCES}?token=secret-query", body, headers=headers)
        assert made.status == 200
        assert (await client.as_user("secret-token").send("GET", INSTANCES)).status == 401
        assert (await client.send("GET", "/nothing?x=secret-query")).status == 404
        token = running.token
    logged = capfdbinary.readouterr().err
    for secret in (token, PASSWORD, body["metadata"]["user_data"], "secret-"):
        assert secret.encode() not in logged
    lines = [json.loads(line) for line in logged.splitlines() if b'"request_id"' in line]
    seen = {line["request_id"]: line for line in lines}
    line = seen[made.headers["X-Request-Id"]]
    assert line | {"time": "", "duration_ms": 0, "token_id": 0} == {
        "time": "",
        "request_id": made.headers["X-Request-Id"],
        "method": "POST",
        "path": f"/v4{INSTANCES}",
        "operation": "create_instance",
        "status": 200,
        "duration_ms": 0,
        "bytes": len(made.raw),
        "client": "127.0.0.1",
        "user": ADMIN,
        "token_id": 0,
    }
    assert {(line["status"], line["operation"], line["user"]) for line in lines} >= {
        (401, "list_instances", None),
        (404, None, ADMIN),
    }
