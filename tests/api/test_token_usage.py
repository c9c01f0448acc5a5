"""What tokens are used for: noted off the path of requests (docs/explain.md)."""

import asyncio
from datetime import date, timedelta

import asyncpg
import pytest

from roost.app.roost import Roost
from roost.clock import Clock
from roost.resources.logins.queries import record_login
from roost.resources.tokens.queries import find_uses
from roost.resources.tokens.service import TokenUsage
from tests.api.conftest import Account, NewAccount, NewToken
from tests.support.client import Client


async def token_of(roost: Roost, account: Account) -> int:
    token_id: int = await roost.store.fetchval(
        "select max(id) from token where user_id = $1", account.user_id
    )
    return token_id


async def uses(roost: Roost, token_id: int) -> list[str] | None:
    return await find_uses(roost.store, token_id, date.min)


async def test_calls_are_noted_once_a_day(client: Client, roost: Roost, account: Account) -> None:
    token_id = await token_of(roost, account)
    for _ in range(3):
        await client.get("/regions")
        await client.get("/compute/instances")
    await client.send("POST", "/compute/instances", {})
    await client.send("GET", "/nothing")
    await roost.usage.flush()
    expected = ["create_instance", "list_instances", "list_regions"]
    assert await uses(roost, token_id) == expected
    count = "select count(*) from token_use where token_id = $1"
    assert await roost.store.fetchval(count, token_id) == 3


async def test_refused_calls_are_not(
    nobody: Client, roost: Roost, new_account: NewAccount, new_token: NewToken
) -> None:
    restricted = await new_account(restricted=True)
    client = nobody.as_user(await new_token(restricted, "events:read_only account:read_only"))
    assert (await client.send("GET", "/compute/instances")).status == 401
    assert (await client.send("GET", "/account/logins")).status == 403
    await client.get("/account/events")
    await roost.usage.flush()
    assert await uses(roost, await token_of(roost, restricted)) == ["list_events"]


async def test_the_first_use_of_a_token_is_a_login(
    client: Client, roost: Roost, account: Account
) -> None:
    assert (await client.get("/profile/logins"))["data"] == []
    await roost.usage.flush()
    for _ in range(2):
        (login,) = (await client.get("/profile/logins"))["data"]
        assert (login["ip"], login["status"]) == ("127.0.0.1", "successful")
        await client.get("/regions")
        await roost.usage.flush()
    user = await client.get(f"/account/users/{account.username}")
    assert user["last_login"]["login_datetime"] == login["datetime"]


async def test_the_login_has_the_time_of_the_use(
    roost: Roost, account: Account, new_token: NewToken
) -> None:
    """Not that of the batch which writes it."""
    await new_token(account)
    clock = Clock()
    usage = TokenUsage(roost.store, clock)
    used = clock.now()
    usage.add(await token_of(roost, account), "view_profile", "192.0.2.1")
    clock.advance(timedelta(minutes=16))
    await usage.flush()
    when = await roost.store.fetchval(
        "select last_login from api_user where id = $1", account.user_id
    )
    assert when == used.replace(microsecond=0)


async def test_a_new_day_is_noted_anew(roost: Roost, account: Account, new_token: NewToken) -> None:
    await new_token(account)
    token_id, clock = await token_of(roost, account), Clock()
    usage = TokenUsage(roost.store, clock)
    for _ in range(2):
        usage.add(token_id, "view_profile", "192.0.2.1")
        await usage.flush()
    clock.advance(timedelta(days=1))
    await usage.flush()
    usage.add(token_id, "view_profile", "192.0.2.1")
    await usage.flush()
    days = await roost.store.fetch(
        "select day from token_use where token_id = $1 order by day", token_id
    )
    today = clock.now().date()
    assert [row["day"] for row in days] == [today - timedelta(days=1), today]


@pytest.mark.parametrize("client", ["local", "/run/socket", ""])
async def test_a_client_without_an_address_is_no_login(
    roost: Roost, account: Account, new_token: NewToken, client: str
) -> None:
    await new_token(account)
    token_id = await token_of(roost, account)
    usage = TokenUsage(roost.store, roost.clock)
    usage.add(token_id, "view_profile", client)
    await usage.flush()
    assert await uses(roost, token_id) == ["view_profile"]
    count = "select count(*) from login where user_id = $1"
    assert await roost.store.fetchval(count, account.user_id) == 0


async def test_a_token_that_is_gone_does_not_matter(
    roost: Roost, account: Account, new_token: NewToken
) -> None:
    await new_token(account)
    token_id = await token_of(roost, account)
    usage = TokenUsage(roost.store, roost.clock)
    usage.add(999_999_999, "view_profile", "192.0.2.1")
    usage.add(token_id, "view_profile", "192.0.2.1")
    await usage.flush()
    assert await uses(roost, token_id) == ["view_profile"]
    assert await uses(roost, 999_999_999) is None


async def test_what_could_not_be_written_is_noted_again(
    roost: Roost, account: Account, new_token: NewToken, monkeypatch: pytest.MonkeyPatch
) -> None:
    await new_token(account)
    token_id = await token_of(roost, account)
    usage = TokenUsage(roost.store, roost.clock)

    async def fail(*_: object) -> None:
        raise asyncpg.ConnectionDoesNotExistError

    with monkeypatch.context() as patched:
        patched.setattr("roost.resources.tokens.queries.add_uses", fail)
        usage.add(token_id, "view_profile", "192.0.2.1")
        await usage.flush()
    assert await uses(roost, token_id) == []
    usage.add(token_id, "view_profile", "192.0.2.1")
    await usage.flush()
    assert await uses(roost, token_id) == ["view_profile"]


async def test_what_is_new_is_written_at_the_end(
    roost: Roost, account: Account, new_token: NewToken
) -> None:
    await new_token(account)
    token_id = await token_of(roost, account)
    usage = TokenUsage(roost.store, roost.clock)
    async with usage.writing():
        usage.add(token_id, "view_profile", "192.0.2.1")
    assert await uses(roost, token_id) == ["view_profile"]


async def test_processes_that_note_the_same_at_once(
    roost: Roost, account: Account, new_token: NewToken
) -> None:
    for _ in range(5):
        await new_token(account)
    rows = await roost.store.fetch("select id from token where user_id = $1", account.user_id)
    ids = [row["id"] for row in rows]
    processes = [TokenUsage(roost.store, roost.clock) for _ in range(8)]
    for number, usage in enumerate(processes):
        for token_id in ids if number % 2 else reversed(ids):
            usage.add(token_id, "view_profile", "192.0.2.1")
    await asyncio.gather(*(usage.flush() for usage in processes))
    count = "select count(*) from token_use where token_id = any($1)"
    assert await roost.store.fetchval(count, ids) == len(ids)
    logins = "select count(*) from login where user_id = $1"
    assert await roost.store.fetchval(logins, account.user_id) == len(ids)


async def test_a_login_of_a_user_who_is_gone(roost: Roost) -> None:
    await record_login(roost.store, 999_999_999, "192.0.2.1", "successful", roost.clock.now())
    count = "select count(*) from login where user_id = 999999999"
    assert await roost.store.fetchval(count) == 0
