"""`?wait=SECONDS`: who waits for a status is answered when there is another one."""

import asyncio
from time import monotonic

import pytest

from roost.app.roost import Roost
from roost.core.events.feed import Feed
from tests.api.conftest import Account
from tests.api.test_events import insert
from tests.support.client import Answer, Client, until
from tests.support.instances import INSTANCES, create_body, made
from tests.support.volumes import paused


async def timed(client: Client, path: str, **headers: str) -> tuple[Answer, float]:
    began = monotonic()
    answer = await client.send("GET", path, headers=headers)
    return answer, monotonic() - began


async def waits(roost: Roost, account: Account) -> None:
    """Until a request of the account does, which has seen what it compares with."""
    feed = roost.services.get(Feed)

    async def waiting() -> bool:
        return account.id in feed._waiting

    await until(waiting, bool)


async def test_until_it_has_another_status(client: Client, roost: Roost, account: Account) -> None:
    async with paused(roost, "disk_make"):
        row = await client.post(INSTANCES, create_body())
        path = f"{INSTANCES}/{row['id']}?wait=60"
        waiting = asyncio.create_task(timed(client, path))
        await waits(roost, account)
        assert (row["status"], waiting.done()) == ("provisioning", False)
    answer, seconds = await waiting
    assert (answer.body["status"], seconds < 55) == ("offline", True)


async def test_until_the_time_is_over(client: Client) -> None:
    row = await made(client)
    answer, seconds = await timed(client, f"{INSTANCES}/{row['id']}?wait=1")
    assert (answer.status, answer.body["status"]) == (200, "offline")
    assert seconds > 0.9


async def test_at_once_where_the_client_has_another_version(client: Client) -> None:
    row = await made(client)
    path = f"{INSTANCES}/{row['id']}"
    answer, seconds = await timed(client, f"{path}?wait=60", **{"If-None-Match": '"x"'})
    assert (answer.status, seconds < 30) == (200, True)
    same, _ = await timed(client, f"{path}?wait=1", **{"If-None-Match": answer.headers["ETag"]})
    assert same.status == 304


async def test_for_what_goes_away(client: Client, roost: Roost, account: Account) -> None:
    row = await made(client)
    waiting = asyncio.create_task(client.send("GET", f"{INSTANCES}/{row['id']}?wait=30"))
    await waits(roost, account)
    await client.delete(f"{INSTANCES}/{row['id']}")
    answer = await waiting
    assert answer.status == 404 or answer.body["status"] == "deleting"


async def test_for_an_event(client: Client, roost: Roost, account: Account) -> None:
    waiting = asyncio.create_task(client.get("/account/events?wait=30"))
    await waits(roost, account)
    assert not waiting.done()
    event = await insert(roost, account)
    assert [each["id"] for each in (await waiting)["data"]] == [event]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/account/events?wait=61", "Must be 0-60"),
        ("/account/events?wait=x", "Must be 0-60"),
        ("/account/events?wait=", "Must be 0-60"),
        ("/volumes?wait=1", "This operation does not wait"),
        ("/profile?wait=1", "This operation does not wait"),
    ],
)
async def test_refusals(client: Client, path: str, reason: str) -> None:
    answer = await client.send("GET", path)
    assert (answer.status, answer.problems) == (400, [("wait", reason)])


async def test_who_waits_has_a_token(nobody: Client) -> None:
    assert (await nobody.send("GET", "/regions/us-lake")).status == 200
    assert (await nobody.send("GET", "/regions/us-lake?wait=1")).status == 401
