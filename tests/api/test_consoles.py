"""Consoles to type in: tickets, WebSockets, and who is let in for how long."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType, WSServerHandshakeError

from roost.app import consoles
from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.compute import console_service
from roost.secrets import hash_token
from tests.api.conftest import Account, NewToken, NewUser
from tests.support.client import Client, Contract, until
from tests.support.disks import path_of
from tests.support.disks import running as run
from tests.support.instances import made
from tests.support.narrowing import narrowed
from tests.support.server import RunningRoost, running_roost, simulated

_SECONDS = 60


async def ticket(client: Client, path: str) -> str:
    answer = await client.post(f"{path}/console")
    assert set(answer) == {"url", "expires"}
    return str(answer["url"])


@asynccontextmanager
async def connected(client: Client, path: str) -> AsyncIterator[ClientWebSocketResponse]:
    url = await ticket(client, path)
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as console:
        yield console


async def heard(console: ClientWebSocketResponse, words: bytes) -> bytes:
    """All that the guest writes until it has written the words."""
    text = b""
    async with asyncio.timeout(_SECONDS):
        while words not in text:
            message = await console.receive()
            assert message.type == WSMsgType.BINARY, message
            text += message.data
    return text


async def ended(console: ClientWebSocketResponse) -> tuple[int | None, object]:
    """The code and the reason with which it is closed."""
    async with asyncio.timeout(_SECONDS):
        while (message := await console.receive()).type == WSMsgType.BINARY:
            pass
    assert message.type == WSMsgType.CLOSE
    return message.data, message.extra


async def refused(url: str) -> int:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(WSServerHandshakeError) as error:
            await session.ws_connect(url)
    return error.value.status


async def test_what_is_typed_reaches_the_guest(client: Client) -> None:
    path = await run(client)
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(await ticket(client, path)) as console:
            assert f"guest-{path.rpartition('/')[2]} login: ".encode() in await heard(
                console, b"login: "
            )
            await console.send_bytes(b"ro")
            await console.send_str("ot\r")
            assert await heard(console, b"login: ")
        async with session.ws_connect(await ticket(client, path)) as again:
            assert await heard(again, b"login: ")


async def test_a_ticket_is_for_one_connection(client: Client) -> None:
    url = await ticket(client, await run(client))
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as console:
        assert await heard(console, b"login: ")
        assert await refused(url) == 403
    assert await refused(url) == 403
    assert await refused(f"{url.rpartition('/')[0]}/{'x' * 43}") == 403


async def test_a_ticket_is_for_a_minute(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console_service, "VALID", timedelta())
    assert await refused(await ticket(client, await run(client))) == 403


async def test_tickets_are_kept_as_hashes(client: Client, roost: Roost) -> None:
    secret = (await ticket(client, await run(client))).rpartition("/")[2]
    found = await roost.store.fetchval("select string_agg(hash::text, ' ') from console_ticket")
    assert secret not in found
    assert secret.encode().hex() not in found


async def test_only_guests_that_run_have_one(client: Client, stranger: Client) -> None:
    row = await made(client)
    answer = await client.send("POST", f"{path_of(row)}/console")
    assert (answer.status, answer.problems) == (400, [(None, "Compute is not running.")])
    assert (await stranger.send("POST", f"{path_of(row)}/console")).status == 404


async def test_who_may_not_any_more_is_cut_off(
    nobody: Client,
    client: Client,
    roost: Roost,
    account: Account,
    new_user: NewUser,
    new_token: NewToken,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before the connection, and while it lasts."""
    monkeypatch.setattr(consoles, "LOOK_SECONDS", 0.05)
    path = await run(client)
    user = await new_user(account)
    theirs = nobody.as_user(await new_token(user))
    revoke = "update token set revoked = now() where user_id = $1"
    early = await ticket(theirs, path)
    async with connected(theirs, path) as console:
        assert await heard(console, b"login: ")
        await roost.store.execute(revoke, user.user_id)
        assert await ended(console) == (1008, "The token or the grant has ended")
    assert await refused(early) == 403


async def test_a_restricted_user_needs_a_grant(
    nobody: Client, client: Client, account: Account, new_user: NewUser, new_token: NewToken
) -> None:
    path, user = await run(client), await new_user(account, restricted=True)
    theirs = nobody.as_user(await new_token(user))
    number = int(path.rpartition("/")[2])
    assert (await theirs.send("POST", f"{path}/console")).status == 403
    granted = {"compute": [{"id": number, "permissions": "read_write"}]}
    await client.put(f"/account/users/{user.username}/grants", granted)
    async with connected(theirs, path) as console:
        assert await heard(console, b"login: ")


async def test_a_narrowed_token_opens_what_is_left_to_it(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nobody is in any longer than it is."""
    monkeypatch.setattr(consoles, "LOOK_SECONDS", 0.05)
    path = await run(client)
    number = int(path.rpartition("/")[2])
    for restriction, reason in (
        ({"entities": {"compute": [123_456_789]}}, "entities"),
        ({"tags": ["night"]}, "tags"),
        ({"read_only": True}, "read_only"),
        ({"operations": ["view_instance"]}, "operations"),
    ):
        answer = await narrowed(client, restriction).send("POST", f"{path}/console")
        assert answer.problems == [(None, f"The token is restricted: {reason}")]
    await client.put(path, {"tags": ["night"]})
    child = narrowed(client, {"entities": {"compute": [number]}}, {"tags": ["night"]})
    early = await ticket(child, path)
    async with connected(child, path) as console:
        assert await heard(console, b"login: ")
        await client.put(path, {"tags": []})
        assert await ended(console) == (1008, "The token or the grant has ended")
    assert await refused(early) == 403


async def test_a_ticket_is_held_to_restrictions(client: Client, roost: Roost) -> None:
    """When their time is over, from another network, and what a newer server has known."""
    path = await run(client)
    number = int(path.rpartition("/")[2])
    over = (roost.clock.seconds() - timedelta(days=1)).isoformat()
    child = narrowed(client, {"networks": ["127.0.0.0/8", "::1/128"]})
    async with connected(child, path) as console:
        assert await heard(console, b"login: ")
    change = "update console_ticket set restrictions = $1 where compute_id = $2"
    for text in ('{"networks":["192.0.2.0/24"]}', f'{{"expires":"{over}"}}', '{"moon":"full"}'):
        url = await ticket(child, path)
        hashed = hash_token(url.rpartition("/")[2])
        known = "select count(*) from console_ticket where hash = $1"
        assert await roost.store.fetchval(known, hashed) == 0
        await roost.store.execute(change, [text], number)
        assert await refused(url) == 403, text


async def test_a_deleted_instance_has_no_console(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consoles, "LOOK_SECONDS", 0.05)
    path = await run(client)
    early = await ticket(client, path)
    async with connected(client, path) as console:
        assert await heard(console, b"login: ")
        await client.delete(path)
        assert (await ended(console))[0] in (1000, 1008)
    assert await refused(early) == 403


async def test_bounds(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of consoles at once, of silence, and of what is said at once."""
    monkeypatch.setattr(consoles, "MOST_EACH", 1)
    path = await run(client)
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(await ticket(client, path)) as console:
            assert await heard(console, b"login: ")
            async with session.ws_connect(await ticket(client, path)) as second:
                assert await ended(second) == (1013, "Too many consoles")
            await console.send_bytes(bytes(65 * 1024))
            assert (await ended(console))[0] == 1009
        monkeypatch.setattr(consoles, "IDLE_SECONDS", 0.2)

        async def silent() -> tuple[int | None, object]:
            async with session.ws_connect(await ticket(client, path)) as console:
                return await ended(console)

        closed = await until(silent, lambda found: found[0] != 1013)
        assert closed == (1000, "Nothing was typed for long")


async def test_an_engine_that_does_not_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise EngineError("Its terminal does not answer")

    monkeypatch.setattr(SimulatedInstances, "terminal", fail)
    path = await run(client)
    async with connected(client, path) as console:
        assert await ended(console) == (1011, "Its terminal does not answer")


async def test_nothing_else_becomes_a_socket(running: RunningRoost) -> None:
    base = f"ws{running.url.removeprefix('http')}"
    for path in ("/v4/regions", "/healthz", "/docs", "/console/x"):
        assert await refused(f"{base}{path}") in (200, 401, 404)
    url = f"{running.url}/consoles/x"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        assert response.status == 404


async def test_connections_are_counted_until_they_end(tmp_path: Path, database_url: str) -> None:
    settings = simulated(tmp_path / "state", database_url, connections_per_address=3)
    async with running_roost(settings) as own, aiohttp.ClientSession() as session:
        async with session.get(f"{own.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        admin = Client(session, contract, own.url).as_user(own.token)
        path = await run(admin)
        for _ in range(5):
            async with connected(admin, path) as console:
                assert await heard(console, b"login: ")
