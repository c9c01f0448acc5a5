"""Roosts with each kind of name server, for tests that ask it."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import aiohttp
import pytest

from roost.app.name_server import stop_dns
from roost.app.roost import Roost
from roost.core import account_queries as accounts
from roost.core.scopes import Scopes
from roost.ids import new_uuid
from roost.resources.account import queries
from roost.resources.tokens.service import issue_token
from tests.support.client import Client, Contract
from tests.support.database import DatabaseServer
from tests.support.resolving import where
from tests.support.server import RunningRoost, running_roost, simulated

ENGINES = ("simulated", pytest.param("powerdns", marks=pytest.mark.powerdns))
LOOPBACK = "127.0.0.0/8,::1/128"

_NAMES = (f"dns-user{number}" for number in count())


@dataclass(frozen=True, slots=True)
class Served:
    """A fresh account's client of a Roost, and where the Roost's name server answers."""

    engine: str
    roost: Roost
    client: Client
    server: tuple[str, int]


@asynccontextmanager
async def dns_roost(
    engine: str, database_server: DatabaseServer, state: Path, **more: object
) -> AsyncIterator[RunningRoost]:
    """Takes zones from the loopback addresses too. Skips where the engine is not installed."""
    if engine == "powerdns" and shutil.which("pdns_server") is None:
        pytest.skip("pdns_server is not installed")
    async with database_server.database() as url:
        settings = simulated(state, url, dns_engine=engine, dns_private_networks=LOOPBACK, **more)
        try:
            async with running_roost(settings) as running:
                yield running
        finally:
            await stop_dns(state)


@asynccontextmanager
async def served_by(engine: str, running: RunningRoost) -> AsyncIterator[Served]:
    roost = running.roost
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        client = Client(session, contract, running.url).as_user(await _token(roost))
        yield Served(engine, roost, client, where(roost))


async def _token(roost: Roost) -> str:
    now = roost.clock.seconds()
    async with roost.store.transaction() as db:
        account_id = await queries.create_account(db, new_uuid(), now)
        user_id = await accounts.create_user(db, account_id, next(_NAMES), False, now)
        return await issue_token(db, roost.clock, user_id, "test", Scopes.parse("*"), None)
