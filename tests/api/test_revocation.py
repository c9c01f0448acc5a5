"""No request with a token passes after the answer that ended it (spec B, Account rule 8)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic

import aiohttp
import pytest

from roost.app.roost import Roost
from roost.core import account_queries
from roost.core.identity import Identity, TokenKind
from roost.core.scopes import Scopes
from roost.errors import ApiError
from roost.resources.account import queries as accounts
from roost.resources.tokens.queries import revoke_token
from roost.resources.tokens.service import make_token
from roost.web import revocation
from roost.web.auth import Authenticator
from roost.web.revocation import LEASE_SECONDS, Revocations, settle
from tests.support.apps import let_in
from tests.support.client import Client, Contract, Json, until
from tests.support.oauth import register
from tests.support.server import RunningRoost, running_roost, simulated

pytestmark = pytest.mark.spec("B account 8", "A auth 4")

TRIES = 200
PATH = "/account/settings"


@pytest.fixture
async def pair(tmp_path: Path, database_url: str) -> AsyncIterator[tuple[RunningRoost, ...]]:
    """Two servers of one database; neither has a worker."""
    settings = simulated(tmp_path, database_url, worker=False)
    async with running_roost(settings) as first, running_roost(settings) as second:
        yield first, second


@pytest.fixture
async def admins(pair: tuple[RunningRoost, ...]) -> AsyncIterator[tuple[Client, ...]]:
    """The same user at both."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        async with session.get(f"{pair[0].url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        yield tuple(Client(session, contract, each.url).as_user(pair[0].token) for each in pair)


async def passes(clients: tuple[Client, ...], token: str) -> list[bool]:
    """Whether a token is good for something, asked at both servers at once."""
    answers = await asyncio.gather(*(c.as_user(token).send("GET", PATH) for c in clients))
    assert {answer.status for answer in answers} <= {200, 401, 403}
    return [answer.status == 200 for answer in answers]


async def test_a_deleted_token_never_passes(admins: tuple[Client, ...]) -> None:
    """Used and deleted at once, over either server, again and again."""
    for turn in range(TRIES):
        made = await admins[0].post("/profile/tokens", {"label": "short"})
        assert await passes(admins, made["token"]) == [True, True]
        await admins[turn % 2].delete(f"/profile/tokens/{made['id']}")
        assert await passes(admins, made["token"]) == [False, False], turn


async def test_a_deleted_token_never_passes_while_it_is_in_use(admins: tuple[Client, ...]) -> None:
    """Requests that begin before the answer may pass, those that begin after it may not."""
    for turn in range(TRIES // 10):
        made = await admins[0].post("/profile/tokens", {"label": "busy"})
        over = asyncio.Event()
        late: list[int] = []

        async def use(client: Client, token: str, over: asyncio.Event, late: list[int]) -> None:
            while not over.is_set():
                await client.as_user(token).send("GET", PATH)
            late.append((await client.as_user(token).send("GET", PATH)).status)

        async with asyncio.TaskGroup() as tasks:
            for client in admins * 3:
                tasks.create_task(use(client, made["token"], over, late))
            await admins[turn % 2].delete(f"/profile/tokens/{made['id']}")
            over.set()
        assert late == [401] * 6


class Ways:
    """A user with a token, and all that can be done to end it."""

    def __init__(self, roost: Roost, admin: Client) -> None:
        self._roost = roost
        self._admin = admin

    async def user(self, **rights: object) -> tuple[str, int]:
        """The name and the id of a new user of the administrator's account."""
        name = f"user-{monotonic()}".replace(".", "-")
        account_id = await accounts.first_account(self._roost.store)
        assert account_id is not None
        now = self._roost.clock.seconds()
        user_id = await account_queries.create_user(self._roost.store, account_id, name, False, now)
        if rights:
            path = f"/account/users/{name}"
            await self._admin.put(path, {"restricted": True})
            await self._admin.put(f"{path}/grants", {"global": rights})
        return name, user_id

    async def token(self, user_id: int, app_id: int | None = None) -> tuple[int, str]:
        kind: TokenKind = "personal" if app_id is None else "oauth"
        store, clock, scopes = self._roost.store, self._roost.clock, Scopes.parse("*")
        made = await make_token(store, clock, user_id, "test", scopes, None, kind, app_id)
        return made.id, made.text

    async def restrict(self) -> tuple[str, Callable[[], Awaitable[Json]]]:
        name, user_id = await self.user()
        _, token = await self.token(user_id)
        path = f"/account/users/{name}"
        return token, lambda: self._admin.put(path, {"restricted": True})

    async def restrict_oneself(self) -> tuple[str, Callable[[], Awaitable[Json]]]:
        _, user_id = await self.user()
        _, token = await self.token(user_id)
        return token, lambda: self._admin.as_user(token).put("/profile", {"restricted": True})

    async def delete_user(self) -> tuple[str, Callable[[], Awaitable[Json]]]:
        name, user_id = await self.user()
        _, token = await self.token(user_id)
        return token, lambda: self._admin.delete(f"/account/users/{name}")

    async def lower_grant(self) -> tuple[str, Callable[[], Awaitable[Json]]]:
        name, user_id = await self.user(account_access="read_only")
        _, token = await self.token(user_id)
        body = {"global": {"account_access": None}}
        return token, lambda: self._admin.put(f"/account/users/{name}/grants", body)

    async def delete_client(self) -> tuple[str, Callable[[], Awaitable[Json]]]:
        token, app = await self._let_in()
        return token, lambda: self._admin.delete(f"/account/oauth-clients/{app[0]}")

    async def revoke_app(self) -> tuple[str, Callable[[], Awaitable[Json]]]:
        token, app = await self._let_in()
        own = self._admin.as_user((await self.token(app[2]))[1])
        return token, lambda: own.delete(f"/profile/apps/{app[1]}")

    async def operator(self) -> tuple[str, Callable[[], Awaitable[Json]]]:
        """As `roost token revoke` does, in a process of its own."""
        token_id, token = await self.token((await self.user())[1])

        async def revoke() -> None:
            store = self._roost.store
            assert await revoke_token(store, token_id, self._roost.clock.seconds())
            await settle(store)

        return token, revoke

    async def _let_in(self) -> tuple[str, tuple[str, int, int]]:
        app = await register(self._admin)
        _, user_id = await self.user()
        app_id = await let_in(self._roost, user_id, app.id)
        _, token = await self.token(user_id, app_id)
        return token, (app.id, app_id, user_id)


@pytest.mark.parametrize(
    "way",
    [
        Ways.restrict,
        Ways.restrict_oneself,
        Ways.delete_user,
        Ways.lower_grant,
        Ways.delete_client,
        Ways.revoke_app,
        Ways.operator,
    ],
)
async def test_every_way_to_end_a_token_does_so_at_once(
    pair: tuple[RunningRoost, ...],
    admins: tuple[Client, ...],
    way: Callable[[Ways], Awaitable[tuple[str, Callable[[], Awaitable[Json]]]]],
) -> None:
    for _ in range(10):
        token, end = await way(Ways(pair[0].roost, admins[1]))
        assert await passes(admins, token) == [True, True]
        await end()
        assert await passes(admins, token) == [False, False]


class Source:
    """A TokenSource with one token, that counts how often it is asked."""

    def __init__(self) -> None:
        self.identity: Identity | None = Identity(
            account_id=1,
            account_uuid="",
            user_id=1,
            username="u",
            restricted=False,
            user_type="default",
            rights=frozenset(),
            account_access=None,
            token_id=1,
            token_kind="personal",
            scopes=Scopes.parse("*"),
            expiry=None,
        )
        self.asked = 0

    async def find(self, hashed: bytes) -> Identity | None:
        self.asked += 1
        return self.identity


async def test_what_is_remembered_is_used_within_a_lease_only(roost: Roost) -> None:
    source = Source()
    authenticator = Authenticator(source, roost.clock)
    for _ in range(3):
        assert await authenticator.identify("Bearer x")
    assert source.asked == 3
    authenticator.trust_until(monotonic() + 60)
    for _ in range(3):
        assert await authenticator.identify("Bearer x")
    assert source.asked == 3
    authenticator.forget()
    assert await authenticator.identify("Bearer x")
    assert source.asked == 4
    authenticator.trust_until(monotonic() - 1)
    assert await authenticator.identify("Bearer x")
    assert source.asked == 5


async def test_a_process_that_hears_nothing_is_waited_for_no_longer_than_its_lease(
    roost: Roost,
) -> None:
    """Stopped, cut off or killed: it has a row and does not answer; it has none afterwards."""
    added = "insert into identity_reader (id, seen) values (gen_random_uuid(), 0) returning id"
    reader = await roost.store.fetchval(added)
    started = monotonic()
    await settle(roost.store)
    assert monotonic() - started >= LEASE_SECONDS
    left = "select count(*) from identity_reader where id = $1"
    assert await roost.store.fetchval(left, reader) == 0


async def test_a_lost_notification_is_made_up_for(
    roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process asks by itself, before its lease ends."""
    source = Source()
    authenticator = Authenticator(source, roost.clock)
    deaf = Revocations(roost.store, authenticator)
    monkeypatch.setattr(deaf, "_hear", lambda _payload: None)
    async with deaf.following():

        async def remembers() -> bool:
            before = source.asked
            await authenticator.identify("Bearer x")
            return source.asked == before

        await until(remembers, bool)
        monkeypatch.setattr(revocation, "LEASE_SECONDS", 60.0)
        await settle(roost.store)
        source.identity = None
        with pytest.raises(ApiError):
            await authenticator.identify("Bearer x")


async def test_a_process_that_was_given_up_registers_again(roost: Roost) -> None:
    source = Source()
    follower = Revocations(roost.store, Authenticator(source, roost.clock))
    rows = "select count(*) from identity_reader"
    before = await roost.store.fetchval(rows)
    async with follower.following():
        await until(lambda: roost.store.fetchval(rows), lambda found: found == before + 1)
        await roost.store.execute("delete from identity_reader")
        await until(lambda: roost.store.fetchval(rows), lambda found: found == before + 1)
    assert await roost.store.fetchval(rows) == before
