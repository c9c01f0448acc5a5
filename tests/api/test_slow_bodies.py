"""A request whose body takes its time, while its caller loses token or rights."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from roost.app.roost import Roost
from roost.resources.tokens.queries import list_tokens, revoke_token
from tests.api.conftest import Account, NewToken
from tests.support.client import Client, until
from tests.support.server import RunningRoost

Loss = Callable[[Roost, Account], Awaitable[None]]


async def lose_token(roost: Roost, account: Account) -> None:
    for token in await list_tokens(roost.store):
        if token.username == account.username:
            await revoke_token(roost.store, token.id, roost.clock.seconds())


async def lose_freedom(roost: Roost, account: Account) -> None:
    await roost.store.execute(
        "update api_user set restricted = true where id = $1", account.user_id
    )
    await roost.store.notify("roost_token")


@pytest.mark.parametrize(("lose", "status"), [(lose_token, 401), (lose_freedom, 403)])
async def test_what_was_lost_meanwhile_counts(
    running: RunningRoost,
    nobody: Client,
    account: Account,
    new_token: NewToken,
    lose: Loss,
    status: int,
) -> None:
    token = await new_token(account)
    client = nobody.as_user(token)
    assert (await client.send("GET", "/account/users")).status == 200
    body = json.dumps({"username": "held-back", "email": "a@b.example"}).encode()
    host, _, port = running.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = (
        f"POST /v4/account/users HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body[:-1])
    await writer.drain()
    await lose(running.roost, account)
    await until(
        lambda: client.send("GET", "/account/users"), lambda answer: answer.status == status
    )
    writer.write(body[-1:])
    answer = await reader.readline()
    writer.close()
    assert answer.split()[1] == str(status).encode()
    found = await running.roost.store.fetchval(
        "select count(*) from api_user where username = 'held-back'"
    )
    assert found == 0
