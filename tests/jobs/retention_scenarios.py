"""The built-in retention of jobs for the harness."""

from dataclasses import dataclass

from roost.jobs import Environment
from roost.jobs.retention import RETENTION, RetentionArgs
from tests.jobs.harness import Scenario

_FILL = """
insert into job (kind, args, step, status, run_at, deadline, created, finished)
select 'job_retention', '{}', 'delete', 'done', now(), now(), now(), now() - n * interval '1 day'
from generate_series(26, 35) as n
"""
_AGES = """
select count(*) filter (where finished <= now() - interval '30 days') as old,
    count(*) filter (where finished between now() - interval '29.9 days'
        and now() - interval '25 days') as young
from job
"""


@dataclass(frozen=True)
class RetentionCase:
    environment: Environment
    job_id: int

    async def check_done(self) -> None:
        assert await self._ages() == (0, 4)
        await self._forget()

    async def check_failed(self) -> None:
        assert await self._ages() in ((0, 4), (6, 4))
        await self._forget()

    async def _ages(self) -> tuple[int, int]:
        row = await self.environment.store.fetchrow(_AGES)
        assert row is not None
        return row["old"], row["young"]

    async def _forget(self) -> None:
        await self.environment.store.execute(
            "delete from job where finished < now() - interval '1 day'"
        )


async def begin(environment: Environment) -> RetentionCase:
    await environment.store.execute(_FILL)
    job = await environment.queue.enqueue(environment.store, RETENTION, RetentionArgs(days=30))
    return RetentionCase(environment, job.id)


SCENARIOS = (Scenario(RETENTION, begin, "retention"),)
