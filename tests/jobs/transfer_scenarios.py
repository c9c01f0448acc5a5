"""Transfers that expire, for the harness: each is told once."""

from dataclasses import dataclass
from datetime import timedelta

from roost.ids import new_uuid
from roost.jobs import Environment, JobArgs
from roost.resources.account.queries import create_account
from roost.resources.transfers import queries
from roost.resources.transfers.jobs import DUE
from roost.store import Store
from tests.jobs.harness import Scenario


@dataclass(frozen=True)
class DueCase:
    """A transfer whose day is over."""

    store: Store
    account_id: int
    job_id: int

    async def check_done(self) -> None:
        assert await self._read() == ("stale", 1)

    async def check_failed(self) -> None:
        """The next minute does it."""
        assert await self._read() == ("pending", 0)

    async def _read(self) -> tuple[str, int]:
        sql = "select status from entity_transfer where account_id = $1"
        told = "select count(*) from event where account_id = $1"
        return (
            await self.store.fetchval(sql, self.account_id),
            await self.store.fetchval(told, self.account_id),
        )


async def begin(environment: Environment) -> DueCase:
    store, now = environment.store, environment.queue.clock.seconds()
    account_id = await create_account(store, new_uuid(), now)
    token = new_uuid().upper()
    await queries.insert(store, token, account_id, [1], now - timedelta(days=1), now)
    job = await environment.queue.enqueue(store, DUE, JobArgs())
    return DueCase(store, account_id, job.id)


SCENARIOS = (Scenario(DUE, begin, "entity_transfers_due"),)
