"""Canceled accounts for the harness: wherever their end is killed, it comes once."""

from dataclasses import dataclass
from datetime import timedelta

from roost.core.account_queries import create_user
from roost.core.billing.ledger import begin, record
from roost.core.endings import Endings
from roost.ids import new_uuid
from roost.jobs import Environment, JobArgs
from roost.resources.account.queries import create_account
from roost.resources.cancellation import queries as cancellation
from roost.resources.cancellation.jobs import CLOSE, ERASE, CloseArgs
from roost.resources.cancellation.queries import CanceledAccount, all_canceled
from roost.resources.cancellation.watch_jobs import WATCH
from roost.resources.compute.billing_queries import CHARGED
from roost.store import Queries, Store
from tests.jobs.harness import Scenario
from tests.support.invoices import wrong_books
from tests.support.stage import Stage


@dataclass(frozen=True)
class CloseCase:
    """A canceled account with an instance that was charged for since this hour."""

    stage: Stage
    account_id: int
    compute_id: int
    job_id: int

    async def check_done(self) -> None:
        found = await _find(self.stage.roost.store, self.account_id)
        assert found.closed is not None
        assert await self._held() == []
        assert await self.stage.power(self.compute_id) is None
        assert await self._invoices() == 1
        assert await wrong_books(self.stage.roost.store, self.account_id) == []

    async def check_failed(self) -> None:
        """The watch begins again with what is left."""
        found = await _find(self.stage.roost.store, self.account_id)
        assert found.closed is None
        assert await self._invoices() in (0, 1)
        assert await wrong_books(self.stage.roost.store, self.account_id) == []

    async def _held(self) -> list[str]:
        roost = self.stage.roost
        return (await roost.services.get(Endings).of_canceled(roost.store)).get(self.account_id, [])

    async def _invoices(self) -> int:
        sql = "select count(*) from invoice where account_id = $1"
        found: int = await self.stage.roost.store.fetchval(sql, self.account_id)
        return found


@dataclass(frozen=True)
class WatchCase:
    """A canceled account that no job works on."""

    store: Store
    account_id: int
    job_id: int

    async def check_done(self) -> None:
        assert await self._jobs() == 1

    async def check_failed(self) -> None:
        assert await self._jobs() == 0

    async def _jobs(self) -> int:
        sql = "select count(*) from job where account_id = $1 and kind = 'account_close'"
        found: int = await self.store.fetchval(sql, self.account_id)
        return found


@dataclass(frozen=True)
class EraseCase:
    """An account that was canceled and closed long ago."""

    store: Store
    account_id: int
    job_id: int

    async def check_done(self) -> None:
        assert await self._read() == (True, 0)

    async def check_failed(self) -> None:
        """What is erased is erased; the next night does the rest."""
        assert await self._read() in ((True, 0), (False, 1))

    async def _read(self) -> tuple[bool, int]:
        found = await _find(self.store, self.account_id)
        sql = "select count(*) from api_user where account_id = $1"
        return found.erased is not None, await self.store.fetchval(sql, self.account_id)


async def _find(db: Queries, account_id: int) -> CanceledAccount:
    return next(each for each in await all_canceled(db) if each.id == account_id)


async def _canceled(environment: Environment, age: timedelta = timedelta()) -> int:
    store, now = environment.store, environment.queue.clock.seconds()
    account_id = await create_account(store, new_uuid(), now - age)
    await create_user(store, account_id, f"gone-{account_id}", False, now)
    await cancellation.cancel(store, account_id, now - age, f"gone-{account_id}", "")
    return account_id


async def begin_close(environment: Environment) -> CloseCase:
    stage, store = environment.services.get(Stage), environment.store
    now = environment.queue.clock.seconds()
    account_id = await create_account(store, new_uuid(), now)
    compute_id = await stage.instance("running", "running")
    async with store.transaction() as db:
        for table, key in (("compute_instance", "id"), ("ip_address", "compute_id")):
            sql = f"update {table} set account_id = $2 where {key} = $1"
            await db.execute(sql, compute_id, account_id)
        await begin(db, CHARGED, compute_id, now - timedelta(minutes=10))
        await cancellation.cancel(db, account_id, now, "ada", "")
        await record(db, CHARGED, compute_id, now)
    args = CloseArgs(account_id=account_id)
    job = await environment.queue.enqueue(store, CLOSE, args, account_id=account_id)
    return CloseCase(stage, account_id, compute_id, job.id)


async def begin_watch(environment: Environment) -> WatchCase:
    account_id = await _canceled(environment)
    job = await environment.queue.enqueue(environment.store, WATCH, JobArgs())
    return WatchCase(environment.store, account_id, job.id)


async def begin_erase(environment: Environment) -> EraseCase:
    account_id = await _canceled(environment, timedelta(days=100))
    await cancellation.set_closed(environment.store, account_id, environment.queue.clock.seconds())
    job = await environment.queue.enqueue(environment.store, ERASE, JobArgs())
    return EraseCase(environment.store, account_id, job.id)


SCENARIOS = (
    Scenario(CLOSE, begin_close),
    Scenario(WATCH, begin_watch),
    Scenario(ERASE, begin_erase),
)
