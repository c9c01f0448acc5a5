"""Two servers on one database: what one does, the other knows at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from roost.resources.tokens.queries import list_tokens, revoke_token
from tests.support.client import Client, Contract, until
from tests.support.instances import INSTANCES, create_body
from tests.support.server import RunningRoost, running_roost, simulated

Pair = tuple[RunningRoost, RunningRoost]


@pytest.fixture
async def pair(tmp_path: Path, database_url: str) -> AsyncIterator[Pair]:
    """The first has the worker; both use one key file and one simulated data plane."""
    async with (
        running_roost(simulated(tmp_path, database_url)) as first,
        running_roost(simulated(tmp_path, database_url, worker=False)) as second,
    ):
        yield first, second


@pytest.fixture
async def clients(pair: Pair) -> AsyncIterator[tuple[Client, Client]]:
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        async with session.get(f"{pair[0].url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        first, second = (Client(session, contract, running.url) for running in pair)
        yield first.as_user(pair[0].token), second.as_user(pair[0].token)


@pytest.mark.usefixtures("long_memory")
async def test_a_token_revoked_by_one_is_refused_by_the_other(
    pair: Pair, clients: tuple[Client, Client]
) -> None:
    for client in clients:
        await client.get(INSTANCES)
    store = pair[0].roost.store
    (token,) = await list_tokens(store)
    assert await revoke_token(store, token.id, pair[0].roost.clock.seconds())
    for client in clients:
        await until(partial(client.send, "GET", INSTANCES), lambda answer: answer.status == 401)
    assert not await revoke_token(store, token.id, pair[0].roost.clock.seconds())


async def test_a_job_enqueued_by_one_is_run_by_the_other(clients: tuple[Client, Client]) -> None:
    first, second = clients
    row = await second.post(INSTANCES, create_body(booted=True))
    path = f"{INSTANCES}/{row['id']}"
    await until(lambda: second.get(path), lambda found: found["status"] == "running")
    assert await first.get(path) == await second.get(path)


async def test_a_key_sent_to_both_makes_one_instance(clients: tuple[Client, Client]) -> None:
    headers = {"Idempotency-Key": "the same"}
    answers = await asyncio.gather(
        *(client.send("POST", INSTANCES, create_body(), headers=headers) for client in clients * 10)
    )
    assert {answer.status for answer in answers} == {200}
    assert len({answer.raw for answer in answers}) == 1
    assert (await clients[0].get(INSTANCES))["results"] == 1


async def test_changes_through_both_never_cross(clients: tuple[Client, Client]) -> None:
    row = await clients[0].post(INSTANCES, create_body(booted=True))
    path = f"{INSTANCES}/{row['id']}"
    await until(lambda: clients[0].get(path), lambda found: found["status"] == "running")
    answers = await asyncio.gather(
        *(client.send("POST", f"{path}/reboot", {}) for client in clients * 5),
        *(client.send("POST", f"{path}/shutdown", {}) for client in clients * 5),
    )
    refused = [answer for answer in answers if answer.status != 200]
    assert len(refused) < len(answers)
    assert {answer.status for answer in refused} <= {400}
    reasons = {reason for answer in refused for _, reason in answer.problems}
    assert reasons <= {"Compute busy.", "Compute is not running."}
    await until(
        lambda: clients[0].get(path), lambda found: found["status"] in ("running", "offline")
    )
    done = await clients[0].get("/account/events", filter={"entity.id": row["id"]})
    assert done["results"] == 2 + len(answers) - len(refused)


async def test_labels_are_unique_through_both(clients: tuple[Client, Client]) -> None:
    body = create_body(label="wanted")
    answers = await asyncio.gather(*(c.send("POST", INSTANCES, body) for c in clients * 8))
    assert sorted(answer.status for answer in answers) == [200] + [400] * 15
    taken = [("label", "Label must be unique among your computes")]
    assert all(answer.problems == taken for answer in answers if answer.status == 400)


async def test_no_address_is_given_twice(clients: tuple[Client, Client]) -> None:
    """Each process has an instance, and both ask at once."""
    made = [await client.post(INSTANCES, create_body()) for client in clients]
    body = {"type": "ipv4", "public": True}
    answers = await asyncio.gather(
        *(
            client.send("POST", f"{INSTANCES}/{row['id']}/ips", body)
            for _ in range(6)
            for client in clients
            for row in made
        )
    )
    given = [answer.body["address"] for answer in answers if answer.status == 200]
    assert len(given) == len(set(given)) > len(made)
    assert {answer.status for answer in answers} == {200, 400}
