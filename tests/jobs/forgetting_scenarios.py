"""The nightly jobs that forget events and kept answers, for the harness."""

from dataclasses import dataclass

from roost.ids import new_uuid
from roost.jobs import Environment, JobArgs, JobKind
from roost.resources.account import queries as accounts
from roost.resources.events import jobs as events
from roost.web import jobs as web
from tests.jobs.harness import Scenario

_EVENTS = """
insert into event (account_id, action, status, created)
select $1, 'test', 'notification', now() at time zone 'UTC' - make_interval(days => n, hours => 1)
from generate_series(88, 93) as n
"""
_ANSWERS = """
insert into idempotency (account_id, key, fingerprint, created)
select $1, n::text, '', now() at time zone 'UTC' - n * interval '6 hours' - interval '1 hour'
from generate_series(2, 7) as n
"""


@dataclass(frozen=True)
class Forgetting:
    """Six rows of an account, of which the job keeps some."""

    environment: Environment
    job_id: int
    table: str
    account_id: int
    kept: int

    async def check_done(self) -> None:
        assert await self._count() == self.kept

    async def check_failed(self) -> None:
        assert await self._count() in (self.kept, 6)

    async def _count(self) -> int:
        count: int = await self.environment.store.fetchval(
            f"select count(*) from {self.table} where account_id = $1", self.account_id
        )
        return count


def _scenario(kind: JobKind[JobArgs], table: str, fill: str, kept: int) -> Scenario:
    async def begin(environment: Environment) -> Forgetting:
        store, queue = environment.store, environment.queue
        account_id = await accounts.create_account(store, new_uuid(), queue.clock.seconds())
        await store.execute(fill, account_id)
        job = await queue.enqueue(store, kind, JobArgs())
        return Forgetting(environment, job.id, table, account_id, kept)

    return Scenario(kind, begin, f"forget {table}")


SCENARIOS = (
    _scenario(events.RETENTION, "event", _EVENTS, 2),
    _scenario(web.RETENTION, "idempotency", _ANSWERS, 2),
)
