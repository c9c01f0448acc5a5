"""A Roost that all API tests of a process share; each test has an account for itself."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import aiohttp
import pytest

from roost.app.roost import Roost
from roost.core import account_queries as accounts
from roost.core.scopes import Scopes
from roost.ids import new_uuid
from roost.jobs.kinds import Retry
from roost.resources.account import queries
from roost.resources.tokens.service import issue_token
from tests.api.dns_servers import ENGINES, Served, dns_roost, served_by
from tests.support.browser import Browser, open_browser
from tests.support.client import Client, Contract
from tests.support.database import DatabaseServer
from tests.support.oauth import PASSWORD, PHONE, App, give_password, register
from tests.support.server import RunningRoost, running_roost, simulated

_NAMES = (f"user{number}" for number in itertools.count())


@pytest.fixture(scope="session", autouse=True)
def uses_on_request() -> Iterator[None]:
    """What tokens are used for, and that their first use is a login, is written when a test asks
    for it: every few seconds it would change what a test looks at twice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("roost.resources.tokens.service.FLUSH_SECONDS", 3600.0)
        yield


@pytest.fixture(scope="session")
async def running(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningRoost]:
    state: Path = tmp_path_factory.mktemp("roost")
    async with (
        database_server.database() as url,
        running_roost(simulated(state, url)) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def roost(running: RunningRoost) -> Roost:
    return running.roost


@pytest.fixture(scope="session")
async def nobody(running: RunningRoost) -> AsyncIterator[Client]:
    """A client without a token."""
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        yield Client(session, contract, running.url)


@pytest.fixture(scope="session")
async def nobody_there(running: RunningRoost) -> AsyncIterator[Client]:
    """A client of the dialect without a token, which holds all against its OpenAPI document."""
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{running.linode}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        yield Client(session, contract, running.linode)


@pytest.fixture(scope="session", params=ENGINES)
async def dns_running(
    request: pytest.FixtureRequest,
    database_server: DatabaseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[str, RunningRoost]]:
    """A Roost with each kind of name server."""
    state: Path = tmp_path_factory.mktemp("dns")
    async with dns_roost(request.param, database_server, state) as running:
        yield request.param, running


@pytest.fixture
async def served(dns_running: tuple[str, RunningRoost]) -> AsyncIterator[Served]:
    """A fresh account there."""
    async with served_by(*dns_running) as served:
        yield served


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is tried again at once: for what becomes of it after the last attempt."""
    monkeypatch.setattr(Retry, "delay", lambda _retry, _failures: 0.01)


@pytest.fixture
def patient_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that wait a moment for what becomes of their work wait for it on a busy machine."""
    for group in ("object_storage", "payments"):
        monkeypatch.setattr(f"roost.resources.{group}.service._LOOKS", 10_000)


@pytest.fixture
def long_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process remembers of tokens does not end with time: for what it is told at once."""
    monkeypatch.setattr("roost.web.auth.CACHE_SECONDS", 3600)


@dataclass(frozen=True, slots=True)
class Account:
    """A fresh account with one user."""

    id: int
    user_id: int
    username: str


NewAccount = Callable[..., Awaitable[Account]]
NewUser = Callable[..., Awaitable[Account]]
NewToken = Callable[..., Awaitable[str]]


@pytest.fixture
async def new_account(roost: Roost) -> NewAccount:
    async def make(restricted: bool = False) -> Account:
        now = roost.clock.seconds()
        async with roost.store.transaction() as db:
            account_id = await queries.create_account(db, new_uuid(), now)
            name = f"{next(_NAMES)}-{account_id}"
            user_id = await accounts.create_user(db, account_id, name, restricted, now)
        return Account(account_id, user_id, name)

    return make


@pytest.fixture
async def new_user(roost: Roost) -> NewUser:
    """Another user of an account."""

    async def make(account: Account, restricted: bool = False) -> Account:
        now, name = roost.clock.seconds(), f"{next(_NAMES)}-{account.id}"
        user_id = await accounts.create_user(roost.store, account.id, name, restricted, now)
        return Account(account.id, user_id, name)

    return make


@pytest.fixture
async def new_token(roost: Roost) -> NewToken:
    async def issue(account: Account, scopes: str = "*", expiry: datetime | None = None) -> str:
        async with roost.store.transaction() as db:
            return await issue_token(
                db, roost.clock, account.user_id, "test", Scopes.parse(scopes), expiry
            )

    return issue


@pytest.fixture
async def account(new_account: NewAccount) -> Account:
    return await new_account()


@pytest.fixture
async def client(nobody: Client, account: Account, new_token: NewToken) -> Client:
    """An unrestricted user's client with a token for everything."""
    return nobody.as_user(await new_token(account))


@pytest.fixture
async def stranger(nobody: Client, new_account: NewAccount, new_token: NewToken) -> Client:
    """The same in another account."""
    return nobody.as_user(await new_token(await new_account()))


@pytest.fixture
async def browser(running: RunningRoost) -> AsyncIterator[Browser]:
    """A browser that nobody is logged in with, at an address that no failures are known of."""
    await running.roost.store.execute("delete from login_attempt")
    async with open_browser(running.url) as browser:
        yield browser


@pytest.fixture
async def user(roost: Roost, account: Account) -> Account:
    """The user of `account`, with PASSWORD."""
    await give_password(roost.store, account.username)
    return account


@pytest.fixture
async def user_browser(browser: Browser, user: Account) -> Browser:
    """A browser with that user logged in."""
    assert (await browser.log_in(user.username, PASSWORD)).status == 303
    return browser


@pytest.fixture
async def app(client: Client) -> App:
    """An OAuth client that keeps a secret."""
    return await register(client)


@pytest.fixture
async def public(client: Client) -> App:
    """An OAuth client on a phone."""
    return await register(client, public=True, redirect_uri=PHONE)


@pytest.fixture
def linode(nobody_there: Client, client: Client) -> Client:
    """The dialect's client of the user that `client` is."""
    return nobody_there.as_user(client.token)
