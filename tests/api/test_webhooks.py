"""Webhooks: what receivers are told, in which order, and what they cannot do to anybody."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from ipaddress import ip_address, ip_network

import pytest

from roost.app.roost import Roost
from roost.core.hosts import queries
from roost.engines.webhook.names import Names
from roost.engines.webhook.receivers import HttpReceivers
from roost.ids import new_uuid
from roost.resources.webhooks import rules
from roost.resources.webhooks.engine import DeliveryError, Outside
from roost.shares import on_behalf_of
from tests.api.conftest import Account, NewAccount, NewToken
from tests.api.test_events import insert
from tests.support.client import Client, Json, until
from tests.support.receivers import Receiver, flood, hang, receiver, redirect, refuse

WEBHOOKS = "/account/webhooks"
INSIDE = "The receiver's address is one of this cloud, its hosts or a private network"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, roost: Roost) -> None:
    """Receivers on this machine are allowed, and nobody waits long for the next attempt."""
    receivers = roost.services.get(Outside).receivers
    assert isinstance(receivers, HttpReceivers)
    monkeypatch.setattr(receivers, "_allowed", [ip_network("127.0.0.1/32")])
    monkeypatch.setattr(rules, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(rules, "_LONGEST_PAUSE", 0.05)


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    async with receiver() as found:
        yield found


async def made(client: Client, hook: Receiver, **more: Json) -> Json:
    body = {"label": "x", "url": hook.url, "actions": ["tag_create"], **more}
    row = await client.post(WEBHOOKS, body)
    hook.secrets = (row["secret"],)
    return row


async def tell(roost: Roost, account: Account, *labels: str) -> list[int]:
    return [await insert(roost, account, age=timedelta(), label=label) for label in labels]


def labels_of(hook: Receiver) -> list[str]:
    return [event["entity"]["label"] for event in hook.taken]


async def taken(hook: Receiver, count: int) -> list[str]:
    async def look() -> list[str]:
        return labels_of(hook)

    return await until(look, lambda found: len(found) >= count)


async def deliveries(client: Client, row: Json, enough: Callable[[Json], bool]) -> list[Json]:
    """The oldest first, when they are enough: they are written behind the receiver's answer."""
    page = await until(
        lambda: client.get(f"{WEBHOOKS}/{row['id']}/deliveries"),
        lambda found: enough(found["data"]),
    )
    return list(reversed(page["data"]))


async def status(client: Client, row: Json, wanted: str) -> Json:
    return await until(
        lambda: client.get(f"{WEBHOOKS}/{row['id']}"), lambda found: found["status"] == wanted
    )


async def test_events_arrive_in_their_order(
    client: Client, roost: Roost, account: Account, hook: Receiver
) -> None:
    row = await made(client, hook)
    assert (row["status"], row["secret"][:6]) == ("active", "whsec_")
    await tell(roost, account, "a", "b")
    await insert(roost, account, "volume_create", age=timedelta(), label="other")
    await tell(roost, account, "c")
    assert await taken(hook, 3) == ["a", "b", "c"]
    shown = await client.get(f"/account/events/{hook.taken[0]['id']}")
    assert hook.taken[0] == shown
    assert (await client.get(f"{WEBHOOKS}/{row['id']}"))["secret"] == "<REDACTED>"
    written = await deliveries(client, row, lambda rows: sum(each["events"] for each in rows) == 3)
    assert {each["status"] for each in written} == {"delivered"}


async def test_what_is_not_taken_comes_before_what_is_later(
    client: Client, roost: Roost, account: Account, hook: Receiver
) -> None:
    hook.answers = [refuse, redirect]
    row = await made(client, hook)
    await tell(roost, account, "a", "b")
    found = await taken(hook, 1)
    await tell(roost, account, "c")
    found = await taken(hook, 2)
    assert found == sorted(found)
    assert hook.elsewhere == 0
    written = await deliveries(client, row, lambda rows: len(rows) >= 3)
    said = [(each["attempt"], each["code"], each["reason"]) for each in written]
    assert said[:3] == [
        (1, 503, "The receiver answered 503"),
        (2, 307, "The receiver answered 307"),
        (3, 200, None),
    ]


async def test_it_is_disabled_after_a_day_and_goes_on_when_it_is_enabled(
    client: Client, roost: Roost, account: Account, hook: Receiver
) -> None:
    hook.answers = [refuse] * 1000
    row = await made(client, hook)
    await tell(roost, account, "a")
    await status(client, row, "failing")
    await roost.store.execute(
        "update webhook set failing_since = failing_since - interval '25 hours' where id = $1",
        row["id"],
    )
    found = await status(client, row, "disabled")
    assert found["reason"] == "Failed for a day: The receiver answered 503"
    notes = (await client.get("/account/notifications"))["data"]
    assert [each["label"] for each in notes if each["label"] == "Webhook disabled"]
    filter_ = {"action": "webhook_disable"}
    (event,) = (await client.get("/account/events", filter=filter_))["data"]
    assert event["entity"]["id"] == row["id"]
    hook.answers = []
    await tell(roost, account, "b")
    await client.put(f"{WEBHOOKS}/{row['id']}", {"enabled": True})
    assert await taken(hook, 2) == ["a", "b"]


async def test_replay(client: Client, roost: Roost, account: Account, hook: Receiver) -> None:
    row = await made(client, hook)
    events = await tell(roost, account, "a", "b", "c")
    await taken(hook, 3)
    await client.post(f"{WEBHOOKS}/{row['id']}/replay", {"event_id": events[1]})
    assert (await taken(hook, 5))[3:] == ["b", "c"]
    answer = await client.send("POST", f"{WEBHOOKS}/{row['id']}/replay", {"event_id": 1})
    assert answer.problems == [("event_id", "event_id is not valid")]
    answer = await client.send("POST", f"{WEBHOOKS}/{row['id']}/replay", {"event_id": 2**63})
    assert answer.status == 400


async def test_secrets_overlap(
    client: Client, roost: Roost, account: Account, hook: Receiver
) -> None:
    row = await made(client, hook)
    new = (await client.post(f"{WEBHOOKS}/{row['id']}/rotate-secret"))["secret"]
    await tell(roost, account, "a")
    await taken(hook, 1)  # With the former one.
    hook.secrets = (new,)
    await tell(roost, account, "b")
    assert await taken(hook, 2) == ["a", "b"]


async def test_one_that_hangs_delays_nobody(
    client: Client,
    roost: Roost,
    account: Account,
    hook: Receiver,
    new_account: NewAccount,
    new_token: NewToken,
    nobody: Client,
) -> None:
    other = await new_account()
    theirs = nobody.as_user(await new_token(other))
    async with receiver() as bad:
        bad.answers = [hang] * 100
        for _ in range(8):
            await made(theirs, bad)
        bad.secrets = ()
        await made(client, hook)
        await tell(roost, other, "a")
        await tell(roost, account, "mine")
        assert await taken(hook, 1) == ["mine"]
        assert bad.asked <= 5


async def test_a_worker_that_was_killed_leaves_its_message_to_another(
    client: Client, roost: Roost, account: Account, hook: Receiver
) -> None:
    """Its claim ends with time; what it had handed over without saying so comes once more."""
    row = await made(client, hook)
    await tell(roost, account, "a")
    await taken(hook, 1)
    await roost.store.execute(
        """
        update webhook set position = position - 1, claim = gen_random_uuid(),
            claimed_until = $2 where id = $1
        """,
        row["id"],
        roost.clock.now() + timedelta(seconds=1),
    )
    await tell(roost, account, "b")

    async def look() -> list[str]:
        return labels_of(hook)

    found = await until(look, lambda labels: "b" in labels)
    assert found.count("b") == 1
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://hooks.example.com/", "Must begin with https://"),
        ("ftp://hooks.example.com/", "Must be a URL that begins with https://"),
        ("https://", "Must be a URL that begins with https://"),
        ("https://u:p@hooks.example.com/", "Must have neither a user nor a fragment"),
        ("https://10.0.0.1/", INSIDE),
        ("https://169.254.169.254/", INSIDE),
        ("https://127.0.0.2/", INSIDE),
        ("https://[::1]/", INSIDE),
        ("https://[::ffff:10.0.0.1]/", INSIDE),
        ("https://[64:ff9b::a00:1]/", INSIDE),
        ("https://198.18.0.16/", INSIDE),
        ("https://0.0.0.0/", INSIDE),
        ("https://[fec0::1]/", INSIDE),
    ],
)
async def test_where_no_message_may_go(client: Client, url: str, reason: str) -> None:
    answer = await client.send("POST", WEBHOOKS, {"label": "x", "url": url})
    assert (answer.status, answer.problems) == (400, [("url", reason)])


@pytest.mark.parametrize("address", ["1.1.1.9:7420", "[2606:4700::9]:7420"])
async def test_no_message_goes_to_another_host_of_the_cloud(
    client: Client, roost: Roost, address: str
) -> None:
    name = f"h{new_uuid()[:8]}"
    url = f"https://{address.rpartition(':')[0]}/"
    receivers = roost.services.get(Outside).receivers
    async with roost.store.transaction() as db:
        await queries.register(db, name, None)
        await queries.set_address(db, name, address)
    try:
        answer = await client.send("POST", WEBHOOKS, {"label": "x", "url": url})
        hosts = await queries.addresses(roost.store)
        with pytest.raises(DeliveryError, match="one of this cloud"):
            await receivers.post(url, {}, b"{}", hosts)
    finally:
        await queries.forget(roost.store, name)
    assert (answer.status, answer.problems) == (400, [("url", INSIDE)])
    # A name is looked at by what it means when the connection is made.
    meant = ip_address(url[8:-1].strip("[]"))
    assert isinstance(receivers, HttpReceivers)
    assert not receivers._may_reach(meant, hosts)


async def test_of_an_answer_only_the_beginning_is_read(hook: Receiver) -> None:
    hook.answers = [flood]
    receivers = HttpReceivers([ip_network("127.0.0.1/32")], lambda: ())
    assert await receivers.post(hook.url, {}, b"{}", ()) == 200


@pytest.mark.parametrize("url", ["https://localhost/", "https://127.1/", "https://2130706433/"])
async def test_names_are_looked_at_when_the_connection_is_made(url: str) -> None:
    receivers = HttpReceivers((), lambda: ())
    with pytest.raises(DeliveryError):
        await receivers.post(url, {}, b"{}", ())


async def test_names_that_nobody_answers_delay_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, ask = threading.Event(), socket.getaddrinfo

    def slow(host: str, *args: int) -> object:
        if host == "slow.example":
            answer.wait(60)
            raise socket.gaierror
        return ask(host, *args)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    names = Names()
    with on_behalf_of(1):
        slow_ones = [asyncio.create_task(names.resolve("slow.example")) for _ in range(100)]
    try:
        async with asyncio.timeout(120):
            with on_behalf_of(2):
                (found,) = await names.resolve("127.0.0.1", 443)
            assert (found["host"], found["port"]) == ("127.0.0.1", 443)
            assert await asyncio.get_running_loop().getaddrinfo("127.0.0.1", 443)
    finally:
        answer.set()
        refused = await asyncio.gather(*slow_ones, return_exceptions=True)
    assert {type(each) for each in refused} == {socket.gaierror}


async def test_there_are_ten(client: Client) -> None:
    body = {"label": "x", "url": "https://hooks.example.com/"}
    for _ in range(10):
        row = await client.post(WEBHOOKS, body)
        await client.put(f"{WEBHOOKS}/{row['id']}", {"enabled": False})
    answer = await client.send("POST", WEBHOOKS, body)
    assert (answer.status, "webhooks" in answer.problems[0][1]) == (400, True)


async def test_another_account(client: Client, stranger: Client, hook: Receiver) -> None:
    row = await made(client, hook)
    path = f"{WEBHOOKS}/{row['id']}"
    assert (await stranger.send("GET", path)).status == 404
    assert (await stranger.send("POST", f"{path}/rotate-secret", {})).status == 404
    assert (await stranger.get(WEBHOOKS))["data"] == []
    await client.delete(path)
    assert (await client.send("GET", path)).status == 404
