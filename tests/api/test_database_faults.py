"""What callers see when the database is short of connections, slow, or breaks a deadlock."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from roost.store import Store
from tests.support.client import Json, until
from tests.support.server import RunningRoost, running_roost, simulated

Ask = Callable[..., Awaitable[tuple[int, Json]]]

_KEY = {
    "label": "laptop",
    "ssh_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG9vb29vb29vb29vb29vb29vb29vb29vb29vb29vb29v",
}

_FAULTS = """
create sequence fault;
create function fail() returns trigger language plpgsql as $$ begin
    if nextval('fault') <= {times} then
        raise exception 'no luck' using errcode = '{code}';
    end if;
    return new;
end $$;
create trigger fail before insert on ssh_key for each row execute function fail();
"""


@asynccontextmanager
async def asking(running: RunningRoost) -> AsyncIterator[Ask]:
    headers = {"Authorization": f"Bearer {running.token}"}
    async with aiohttp.ClientSession(headers=headers) as session:

        async def ask(method: str, path: str, body: Json = None) -> tuple[int, Json]:
            url = f"{running.url}{path}"
            async with session.request(method, url, json=body) as response:
                return response.status, await response.json()

        yield ask


@pytest.mark.parametrize("code", ["40P01", "40001"])
@pytest.mark.parametrize(("times", "status"), [(1, 200), (2, 503)])
async def test_a_write_that_the_database_ended_for_others_is_tried_once_more(
    tmp_path: Path, database_url: str, code: str, times: int, status: int
) -> None:
    async with running_roost(simulated(tmp_path, database_url)) as running, asking(running) as ask:
        await running.roost.store.execute(_FAULTS.format(code=code, times=times))
        assert (await ask("POST", "/v4/profile/sshkeys", _KEY))[0] == status
        made = await ask("GET", "/v4/profile/sshkeys")
        events = await ask("GET", "/v4/account/events")
    assert made[1]["results"] == (status == 200)
    actions = [event["action"] for event in events[1]["data"]]
    assert actions.count("user_ssh_key_add") == (status == 200)


async def test_requests_that_take_all_connections_stop_no_job_and_no_health_check(
    tmp_path: Path, database_url: str
) -> None:
    settings = simulated(tmp_path, database_url, database_connections=3)
    async with running_roost(settings) as running, asking(running) as ask:
        requests, store = running.roost.requests, running.roost.store
        async with AsyncExitStack() as stack:
            for _ in range(3):
                await stack.enter_async_context(requests.pool.acquire())
            began = time.monotonic()
            # The token must be looked up, or is known already: then the list waits.
            status, _ = await ask("GET", "/v4/volumes")
            assert (status, time.monotonic() - began < 20) == (503, True)
            seen = await _seen(store)
            async with asyncio.timeout(60):
                while await _seen(store) == seen:
                    await asyncio.sleep(0.05)
            assert (await ask("GET", "/healthz"))[0] == 200
        assert (await ask("GET", "/v4/volumes"))[0] == 200


async def _seen(store: Store) -> object:
    return await store.reserved.fetchval("select max(seen) from worker")


async def test_a_statement_that_takes_too_long_is_answered_503(
    tmp_path: Path, database_url: str
) -> None:
    settings = simulated(tmp_path, database_url, database_timeout=0.3)
    async with running_roost(settings) as running, asking(running) as ask:
        async with running.roost.store.transaction() as db:
            await db.execute("lock table ssh_key")
            began = time.monotonic()
            assert (await ask("POST", "/v4/profile/sshkeys", _KEY))[0] == 503
            assert time.monotonic() - began < 30
        again = partial(ask, "POST", "/v4/profile/sshkeys", _KEY)  # The machine may be busy, too.
        await until(again, lambda answer: answer[0] == 200)
