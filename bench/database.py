"""A PostgreSQL server with Roost's tables, and accounts to measure on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.statements import ALERTS, FILL, FILL_VOLUMES, GRANT_HALF
from roost.app.groups import GROUPS
from roost.clock import Clock
from roost.core import account_queries as accounts
from roost.core.entities.queries import fold_counts
from roost.core.limits.queries import set_limit
from roost.core.scopes import Scopes
from roost.ids import new_uuid
from roost.resources.account import queries
from roost.resources.tokens.service import issue_token
from roost.settings import Settings
from roost.store import Store, migrate
from roost.store.cluster import Cluster


@asynccontextmanager
async def database(state: Path) -> AsyncIterator[Store]:
    """On the core of whoever asks; durable like the one that Roost starts for itself."""
    cluster = Cluster(state / "postgres")
    await cluster.launch()
    try:
        await migrate.upgrade(cluster.dsn())
        store = await Store.open(Settings(database_url=cluster.dsn(), state=state))
        try:
            yield store
        finally:
            await store.close()
    finally:
        await cluster.stop()


@dataclass(frozen=True, slots=True)
class Account:
    """An account with an unrestricted user."""

    id: int
    token: str
    instances: list[int]


async def make_restricted(store: Store, account: Account, username: str) -> str:
    """The token of a user who may see every other instance of the account."""
    clock = Clock()
    async with store.transaction() as db:
        user = await accounts.create_user(db, account.id, username, True, clock.seconds())
        token = await issue_token(db, clock, user, username, Scopes.parse("*"))
        await db.execute(GRANT_HALF, account.id, user)
    await _settle(store)
    return token


async def make_account(
    store: Store, username: str, instances: int, *, limited: bool = False
) -> Account:
    """Without quotas, unless it shall have those that accounts start with."""
    clock = Clock()
    async with store.transaction() as db:
        account = await queries.create_account(db, new_uuid(), clock.seconds())
        user = await accounts.create_user(db, account, username, False, clock.seconds())
        token = await issue_token(db, clock, user, username, Scopes.parse("*"))
        for limit in () if limited else GROUPS.limits:
            for kind in limit.kinds:
                await set_limit(db, account, kind.name, None)
        await db.execute(FILL, account, instances, ALERTS)
    await _settle(store)
    rows = await store.fetch("select id from compute_instance where account_id = $1", account)
    return Account(account, token, [row["id"] for row in rows])


async def make_volumes(store: Store, account: Account, number: int) -> list[int]:
    """Volumes of the account, of which each has a tag that only four others have."""
    await store.execute(FILL_VOLUMES, account.id, number)
    await _settle(store)
    rows = await store.fetch("select id from volume where account_id = $1", account.id)
    return [row["id"] for row in rows]


async def _settle(store: Store) -> None:
    """What a server does by itself some minutes after so many rows were written."""
    await fold_counts(store)
    await store.execute("vacuum analyze")
