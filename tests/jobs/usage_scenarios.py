"""The job that reads the counters of guests, for the harness."""

from dataclasses import dataclass

from roost.jobs import Environment
from roost.jobs.kinds import JobArgs
from roost.resources.usage.jobs import READ
from tests.jobs.harness import Scenario
from tests.support.stage import Stage
from tests.support.usage import RESTED, measure


@dataclass(frozen=True)
class Reading:
    """Two instances; one has been read five minutes before."""

    stage: Stage
    compute_ids: tuple[int, int]
    job_id: int

    async def check_done(self) -> None:
        """However often it is read, what a guest sent is counted once."""
        known, new = self.compute_ids
        assert await self._rows("usage_reading", known) == 1
        assert await self._rows("usage_amount", known) == 2
        assert await self._sent(known) == await self._shown(known)
        assert await self._rows("usage_reading", new) == 1
        assert await self._sent(new) == await self._shown(new)

    async def check_failed(self) -> None:
        for compute_id in self.compute_ids:
            read = await self._shown(compute_id)
            assert await self._sent(compute_id) in (0, read)

    async def _rows(self, table: str, compute_id: int) -> int:
        count: int = await self.stage.roost.store.fetchval(
            f"select count(*) from {table} where compute_id = $1", compute_id
        )
        return count

    async def _sent(self, compute_id: int) -> int:
        sent: int = await self.stage.roost.store.fetchval(
            "select coalesce(sum(bytes_out), 0)::bigint from usage_month where compute_id = $1",
            compute_id,
        )
        return sent

    async def _shown(self, compute_id: int) -> int:
        """By the last reading."""
        shown: int | None = await self.stage.roost.store.fetchval(
            "select ipv4_out + ipv6_out from usage_reading where compute_id = $1", compute_id
        )
        return shown or 0


async def begin(environment: Environment) -> Reading:
    stage = environment.services.get(Stage)
    compute_ids = await stage.instance(power="running"), await stage.instance(power="running")
    await measure(stage.roost, compute_ids[0], RESTED)
    job = await environment.queue.enqueue(environment.store, READ, JobArgs())
    return Reading(stage, compute_ids, job.id)


SCENARIOS = (Scenario(READ, begin, "read counters"),)
