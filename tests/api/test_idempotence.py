"""`Idempotency-Key`, and requests while the store is cut off."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from structlog.testing import capture_logs

from roost.store.pool import connect
from tests.support.client import Answer, Client, Contract, until
from tests.support.instances import INSTANCES, OMITTED, create_body
from tests.support.server import RunningRoost, running_roost, simulated

BARE = create_body(image=OMITTED, root_pass=OMITTED)
KEY = {"Idempotency-Key": "order 66"}
USED = [("Idempotency-Key", "This key was used for another request")]


@pytest.fixture
def quiet() -> Iterator[None]:
    """Errors that a test provokes take seconds to be printed with all their locals."""
    with capture_logs():
        yield


@pytest.fixture
async def own(tmp_path: Path, database_url: str) -> AsyncIterator[RunningRoost]:
    """A Roost whose clock and connections this test may touch."""
    async with running_roost(simulated(tmp_path, database_url)) as running:
        yield running


@pytest.fixture
async def caller(own: RunningRoost) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{own.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        yield Client(session, contract, own.url).as_user(own.token)


async def create(client: Client) -> Answer:
    return await client.send("POST", INSTANCES, BARE, headers=KEY)


async def test_a_key_is_free_after_24_hours(own: RunningRoost, caller: Client) -> None:
    first = await create(caller)
    own.roost.clock.advance(timedelta(hours=24) - timedelta(minutes=1))
    assert (await create(caller)).raw == first.raw
    own.roost.clock.advance(timedelta(minutes=2))
    later = await create(caller)
    assert later.status == 200
    assert later.body["id"] != first.body["id"]
    assert (await caller.get(INSTANCES))["results"] == 2


async def test_the_answer_is_kept_even_if_its_subject_is_gone(caller: Client) -> None:
    first = await create(caller)
    path = f"{INSTANCES}/{first.body['id']}"
    await caller.delete(path)
    await until(lambda: caller.send("GET", path), lambda answer: answer.status == 404)
    assert (await create(caller)).raw == first.raw
    assert (await caller.get(INSTANCES))["results"] == 0


async def test_a_key_belongs_to_path_and_body(caller: Client) -> None:
    for _ in range(2):
        await caller.post(INSTANCES, BARE)
    events = (await caller.get("/account/events"))["data"]
    first, second = (f"/account/events/{event['id']}/read" for event in events[:2])
    assert (await caller.send("POST", first, headers=KEY)).status == 200
    assert (await caller.send("POST", first, headers=KEY)).raw == b"{}"
    assert (await caller.send("POST", second, headers=KEY)).problems == USED
    assert (await caller.send("POST", INSTANCES, BARE, headers=KEY)).problems == USED
    assert (await caller.get(INSTANCES))["results"] == 2


async def test_other_methods_ignore_it(caller: Client) -> None:
    made = await create(caller)
    path = f"{INSTANCES}/{made.body['id']}"
    for label in ("one", "two"):
        answer = await caller.send("PUT", path, {"label": f"label-{label}"}, headers=KEY)
        assert answer.body["label"] == f"label-{label}"
    assert (await caller.send("GET", path, headers=KEY)).status == 200


@pytest.mark.usefixtures("quiet")
async def test_lost_connections_are_made_again(
    own: RunningRoost, caller: Client, database_url: str
) -> None:
    """Refused for a moment at most, with the code that clients wait on; then all goes on."""
    row = await caller.post(INSTANCES, BARE)
    admin = await connect(database_url)
    try:
        for _ in range(3):
            await admin.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
            )
            answers = await asyncio.gather(
                *(caller.send("GET", f"{INSTANCES}/{row['id']}") for _ in range(10)),
                *(caller.send("POST", INSTANCES, BARE) for _ in range(10)),
            )
            assert {answer.status for answer in answers} <= {200, 503}
            await until(lambda: caller.send("GET", INSTANCES), lambda found: found.status == 200)
    finally:
        await admin.close()
    made = await caller.post(INSTANCES, BARE)
    await until(
        lambda: caller.get(f"{INSTANCES}/{made['id']}"), lambda found: found["status"] == "offline"
    )
