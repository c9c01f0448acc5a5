"""Streams of events: what comes, to whom, in which order, and when they end (decision 0141)."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import aiohttp
import pytest

from roost.app.roost import Roost
from roost.clock import Clock
from roost.core.events import change_queries, feed
from roost.core.grant_queries import give
from roost.resources.events import heartbeat_service, stream_service
from roost.resources.events.stream_service import Streams
from roost.store import Queries
from tests.api.conftest import Account, NewAccount, NewToken, NewUser
from tests.api.test_events import insert
from tests.support.client import Client, Json, until
from tests.support.instances import made
from tests.support.server import RunningRoost
from tests.support.streams import Reader, reading

STREAM = "/events/stream"
STATUSES = "Must be one of scheduled, started, finished, failed, notification"


async def labels(reader: Reader, count: int) -> list[str]:
    return [(await reader.event()).data["entity"]["label"] for _ in range(count)]


def open_of(roost: Roost, account: Account) -> int:
    """Streams of the account; those that other tests have left may still be ending."""
    return len(roost.services.get(Streams)._by_account.get(account.id, ()))


async def told(roost: Roost, account: Account, label: str, about: int = 7) -> int:
    return await insert(roost, account, age=timedelta(), label=label, id=about)


async def test_an_event_comes_as_it_begins_and_as_it_ends(
    client: Client, running: RunningRoost
) -> None:
    async with reading(running.url, client.token, "?action=compute_create") as reader:
        row = await made(client, label="streamed")
        found = await reader.until(status="finished")
    assert {each.data["entity"]["id"] for each in found} == {row["id"]}
    assert len({each.data["id"] for each in found}) == 1
    assert [each.id for each in found] == sorted({each.id for each in found})
    assert found[-1].data == await client.get(f"/account/events/{found[-1].data['id']}")


async def test_it_goes_on_where_it_broke_off(
    client: Client, running: RunningRoost, roost: Roost, account: Account
) -> None:
    async with reading(running.url, client.token) as reader:
        await told(roost, account, "one")
        last = (await reader.event()).id
    for label in ("two", "three"):
        await told(roost, account, label)
    async with reading(running.url, client.token, last=last) as reader:
        assert await labels(reader, 2) == ["two", "three"]
        await told(roost, account, "four")
        assert await labels(reader, 1) == ["four"]
    answer = await client.send("GET", f"{STREAM}?seconds=0", headers={"Last-Event-ID": str(last)})
    parts = answer.raw.decode().split("data: ")
    assert [json.loads(part.split("\n")[0])["entity"]["label"] for part in parts[1:]] == [
        *("two", "three", "four")
    ]


async def test_pages_of_what_was_missed(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_service, "_PAGE", 3)
    monkeypatch.setattr(stream_service, "_WAITING", 2)
    wanted = [f"n{number}" for number in range(10)]
    async with reading(running.url, client.token) as reader:
        await told(roost, account, "first")
        last = (await reader.event()).id
        for label in wanted:
            await told(roost, account, label)
        assert await labels(reader, 10) == wanted
    async with reading(running.url, client.token, last=last) as reader:
        assert await labels(reader, 10) == wanted


async def test_what_is_committed_later_comes_later(
    client: Client, running: RunningRoost, roost: Roost, account: Account
) -> None:
    """Also where it has the lower id: nobody misses it who has seen the other one."""
    add = (
        "insert into event (account_id, action, status, created, entity)"
        " values ($1, 'tag_create', 'notification', $2, $3) returning id"
    )
    now = roost.clock.seconds()
    slow, quick = (json.dumps({"id": 1, "label": each}) for each in ("slow", "quick"))
    async with reading(running.url, client.token) as reader:
        async with roost.store.transaction() as db:
            first = await db.fetchval(add, account.id, now, slow)
            second = await roost.store.fetchval(add, account.id, now, quick)
            assert first < second
            seen = await reader.event()
            assert seen.data["id"] == second
        async with reading(running.url, client.token, last=seen.id) as later:
            assert (await later.event()).data["id"] == first
        assert (await reader.event()).data["id"] == first


async def test_many_writers_at_once(
    client: Client, running: RunningRoost, roost: Roost, account: Account
) -> None:
    """Each event comes, and those of one thing as they were made."""

    async def write(entity: int) -> None:
        for number in range(10):
            await told(roost, account, f"{number}", about=entity)

    async with reading(running.url, client.token) as reader:
        await asyncio.gather(*(write(entity) for entity in range(8)))
        found = [(await reader.event()).data["entity"] for _ in range(80)]
    for entity in range(8):
        numbers = [int(each["label"]) for each in found if each["id"] == entity]
        assert numbers == list(range(10))


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("action=volume_create", ["b"]),
        ("action=volume_create,tag_create", ["a", "b"]),
        ("entity_type=volume", ["b", "c"]),
        ("entity_type=volume&entity_id=9", ["c"]),
        ("status=notification", ["a", "b", "c"]),
        ("status=failed,finished", []),
    ],
)
async def test_filters(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    account: Account,
    query: str,
    wanted: list[str],
) -> None:
    async with reading(running.url, client.token, f"?{query}") as reader:
        mark = await reader.next()
        await insert(roost, account, "tag_create", label="a")
        await insert(roost, account, "volume_create", label="b", type="volume", id=8)
        await insert(roost, account, "volume_delete", label="c", type="volume", id=9)
        assert await labels(reader, len(wanted)) == wanted
    assert mark is not None
    # And of what was missed.
    async with reading(running.url, client.token, f"?{query}&seconds=0", last=1) as reader:
        assert await labels(reader, len(wanted)) == wanted


async def test_only_those_of_the_account(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    account: Account,
    new_account: NewAccount,
) -> None:
    other = await new_account()
    async with reading(running.url, client.token, last=0) as reader:
        await told(roost, other, "secret")
        await told(roost, account, "mine")
        assert await labels(reader, 1) == ["mine"]


async def test_restricted_users_see_what_is_granted(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
) -> None:
    user = await new_user(account, restricted=True)
    token = await new_token(user)
    hidden, shown = [await made(client, label=label) for label in ("hidden", "shown")]
    await give(roost.store, user.user_id, "compute", shown["id"], "read_only")
    async with reading(running.url, token, "?status=notification") as reader:
        for row in (hidden, shown, hidden, shown):
            await insert(roost, account, "compute_update", type="compute", id=row["id"])
        assert [(await reader.event()).data["entity"]["id"] for _ in range(2)] == [shown["id"]] * 2


async def test_it_ends_with_its_token(
    client: Client, running: RunningRoost, roost: Roost, account: Account, new_token: NewToken
) -> None:
    """And nothing comes after the answer that ended it."""
    token = await new_token(account)
    rows = (await client.get("/profile/tokens"))["data"]
    (of_stream,) = (row for row in rows if token.startswith(row["token"]))
    async with reading(running.url, token) as reader:
        await client.delete(f"/profile/tokens/{of_stream['id']}")
        await told(roost, account, "late")
        assert await reader.ends()


async def test_it_ends_with_its_user_and_when_the_token_expires(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user = await new_user(account)
    async with reading(running.url, await new_token(user)) as reader:
        await client.delete(f"/account/users/{user.username}")
        assert await reader.ends()
    monkeypatch.setattr(heartbeat_service, "HEARTBEAT_SECONDS", 0.1)
    token = await new_token(account, expiry=roost.clock.seconds() + timedelta(minutes=30))
    async with reading(running.url, token) as reader:
        assert await reader.next() is not None
        later = Clock(roost.clock.offset + timedelta(hours=1))
        streams = roost.services.get(Streams)
        monkeypatch.setattr(streams, "_readers", replace(streams._readers, clock=later))
        assert await reader.ends()


async def test_it_lives_while_nothing_happens(
    client: Client, running: RunningRoost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat_service, "HEARTBEAT_SECONDS", 0.05)
    async with reading(running.url, client.token) as reader:
        marks = [await reader.next() for _ in range(3)]
    assert [None if each is None else each.data for each in marks] == [None] * 3


async def test_it_ends_after_its_seconds(client: Client, running: RunningRoost) -> None:
    async with reading(running.url, client.token, "?seconds=1") as reader:
        assert await reader.ends()


async def test_bounds(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_service, "MOST_EACH", 1)
    async with reading(running.url, client.token):
        answer = await client.send("GET", STREAM)
        assert (answer.status, answer.problems) == (429, [(None, "Too many streams at once")])
    streams = roost.services.get(Streams)

    async def ends() -> int:
        return (await client.send("GET", f"{STREAM}?seconds=0")).status

    assert await until(ends, lambda status: status == 200) == 200
    monkeypatch.setattr(streams, "_most", 0)
    assert await ends() == 429


@pytest.mark.parametrize(
    ("query", "last", "problems"),
    [
        ("?status=done", None, [("status", STATUSES)]),
        ("?action=a,,b", None, [("action", "Must be names with commas between them")]),
        ("?seconds=-1", None, [("seconds", "Must be 0-86400")]),
        ("?seconds=86401", None, [("seconds", "Must be 0-86400")]),
        ("?seconds=0", "x", [("Last-Event-ID", "Must be an id of a stream of events")]),
        ("?seconds=0", "-1", [("Last-Event-ID", "Must be an id of a stream of events")]),
    ],
)
async def test_refusals(
    client: Client, query: str, last: str | None, problems: list[tuple[str, str]]
) -> None:
    headers = {} if last is None else {"Last-Event-ID": last}
    answer = await client.send("GET", STREAM + query, headers=headers)
    assert (answer.status, answer.problems) == (400, problems)


async def test_an_id_of_another_past(client: Client, running: RunningRoost) -> None:
    async with reading(running.url, client.token, last=9 * 10**18) as reader:
        message = await reader.event()
    assert (message.name, message.data) == ("reset", {})
    assert message.id < 9 * 10**18


async def test_a_client_that_leaves_makes_room(
    client: Client, running: RunningRoost, roost: Roost, account: Account
) -> None:
    async with reading(running.url, client.token):
        assert open_of(roost, account) == 1

    async def left() -> int:
        return open_of(roost, account)

    assert await until(left, lambda count: count == 0) == 0


async def test_one_who_does_not_read_is_cut_off(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("roost.web.streams.STUCK_SECONDS", 0.2)
    reader, writer = await asyncio.open_connection(
        *running.url.removeprefix("http://").split(":"), limit=2048
    )
    writer.write(
        b"GET /v4/events/stream HTTP/1.1\r\nHost: x\r\n"
        b"Authorization: Bearer %b\r\n\r\n" % str(client.token).encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    reader._transport.pause_reading()  # type: ignore[attr-defined]

    async def tell() -> int:
        await asyncio.gather(*(told(roost, account, "x" * 200_000) for _ in range(8)))
        return open_of(roost, account)

    assert await until(tell, lambda count: count == 0) == 0
    writer.transport.abort()


async def test_in_the_words_of_the_dialect(client: Client, running: RunningRoost) -> None:
    query = "?action=linode_create&entity_type=linode"
    async with reading(running.linode, client.token, query) as reader:
        row = await made(client)
        event = (await reader.event()).data
    assert (event["action"], event["entity"]["type"]) == ("linode_create", "linode")
    assert event["entity"]["url"] == f"/v4/linode/instances/{row['id']}"

    async def both() -> tuple[bytes, bytes]:
        """How far they are, which goes on until the last change has its place."""
        answer = await client.send("GET", f"{STREAM}?seconds=0")
        async with (
            aiohttp.ClientSession() as session,
            session.get(
                f"{running.linode}/v4{STREAM}?seconds=0",
                headers={"Authorization": f"Bearer {client.token}"},
            ) as said,
        ):
            return answer.raw, await said.read()

    await until(both, lambda said: said[0] == said[1])


async def test_what_was_missed_in_the_words_of_the_dialect(
    client: Client, running: RunningRoost
) -> None:
    await made(client)
    query = "?action=linode_create&seconds=0"

    async def missed() -> list[Json]:
        """To the end of the answer."""
        found: list[Json] = []
        async with reading(running.linode, client.token, query, last=1) as reader:
            while (message := await reader.next()) is not None:
                found += [message.data] if message.data else []
        return found

    event = (await until(missed, bool))[-1]
    assert (event["action"], event["entity"]["type"]) == ("linode_create", "linode")
    headers = {"Authorization": f"Bearer {client.token}"}
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(30)) as session,
        session.head(f"{running.linode}/v4{STREAM}", headers=headers) as of_all,
    ):
        assert (of_all.status, of_all.content_type) == (200, "text/event-stream")


async def test_who_wants_few_gets_on(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From one question to the next, though nothing was sent of what has been looked at."""
    monkeypatch.setattr(stream_service, "_PAGE", 2)
    monkeypatch.setattr(stream_service, "_PAGES", 1)
    for label in ("a", "b", "c", "d"):
        await told(roost, account, label)
    await insert(roost, account, "volume_create", age=timedelta(), label="wanted")
    last = 1

    async def ask() -> list[str]:
        nonlocal last
        found: list[str] = []
        query = "?action=volume_create&seconds=0"
        async with reading(running.url, client.token, query, last=last) as reader:
            while (message := await reader.next()) is not None:
                last = message.id
                found += [message.data["entity"]["label"]] if message.data else []
        return found

    assert await until(ask, bool) == ["wanted"]


async def test_another_process_may_have_told_more(
    client: Client,
    running: RunningRoost,
    roost: Roost,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it has told is not of another past, and does not come again."""
    async with reading(running.url, client.token) as first:
        await told(roost, account, "told")
        last = (await first.event()).id
        monkeypatch.setattr(roost.services.get(Streams), "_position", last - 1)
        async with reading(running.url, client.token, last=last) as second:
            await told(roost, account, "new")
            message = await second.event()
    assert (message.name, message.data["entity"]["label"]) == ("message", "new")


async def test_who_comes_as_the_feed_stops_is_told(
    roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "_LINGER_SECONDS", 0)
    stopping, free = asyncio.Event(), asyncio.Event()

    async def unregister(db: Queries, reader: UUID) -> None:
        stopping.set()
        await free.wait()
        await db.execute("delete from event_reader where id = $1", reader)

    ids = "select array_agg(id) from event_reader"
    followed = feed.Feed()
    async with followed.open(roost.store):
        async with followed.awaited(account.id):
            before = set(await roost.store.fetchval(ids))
        with monkeypatch.context() as patched:
            patched.setattr(change_queries, "unregister", unregister)
            await stopping.wait()
            async with followed.awaited(account.id):
                free.set()

                async def left() -> set[UUID]:
                    return set(await roost.store.fetchval(ids))

                left_over = await until(left, lambda found: not before <= found)
                assert followed._id in left_over


async def test_nobody_is_told_while_nobody_reads(roost: Roost, account: Account) -> None:
    """A write pays for a row, and for no notification."""
    event = await told(roost, account, "x")
    position = await roost.store.fetchval(
        "select count(*) from event_change where event_id = $1", event
    )
    assert position == 1


async def test_they_are_ordered_while_nobody_reads(roost: Roost, account: Account) -> None:
    event = await told(roost, account, "x")

    async def position() -> object:
        return await roost.store.fetchval(
            "select position from event_change where event_id = $1", event
        )

    assert await until(position, lambda found: found is not None)
