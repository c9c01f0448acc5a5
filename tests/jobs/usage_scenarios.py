"""The job that reads the counters of guests, for the harness."""

from dataclasses import dataclass

from roost.ids import new_uuid
from roost.jobs import Environment
from roost.jobs.kinds import JobArgs
from roost.resources.account.queries import create_account
from roost.resources.usage.alert_jobs import SEND, WATCH, AlertMailArgs
from roost.resources.usage.jobs import READ
from tests.jobs.emails import EmailCase
from tests.jobs.harness import Scenario
from tests.support.mail import MailServer
from tests.support.stage import Stage
from tests.support.usage import BUSY, RESTED, measure


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


@dataclass(frozen=True)
class Alerted:
    """An instance that exceeds an alert."""

    stage: Stage
    compute_id: int
    job_id: int

    async def check_done(self) -> None:
        assert (await self._told(), await self._events()) == (1, 1)

    async def check_failed(self) -> None:
        told = await self._told()
        assert told <= 1
        assert await self._events() == told

    async def _told(self) -> int:
        sql = "select count(*) from alert_told where compute_id = $1"
        count: int = await self.stage.roost.store.fetchval(sql, self.compute_id)
        return count

    async def _events(self) -> int:
        sql = "select count(*) from event where entity_id = $1 and action = 'compute_alert'"
        count: int = await self.stage.roost.store.fetchval(sql, str(self.compute_id))
        return count


async def begin_watch(environment: Environment) -> Alerted:
    stage = environment.services.get(Stage)
    compute_id = await stage.instance(power="running")
    sql = (
        "update compute_instance set alerts = jsonb_set(alerts::jsonb, '{cpu}', '1') where id = $1"
    )
    await environment.store.execute(sql, compute_id)
    await measure(stage.roost, compute_id, *BUSY)
    job = await environment.queue.enqueue(environment.store, WATCH, JobArgs())
    return Alerted(stage, compute_id, job.id)


async def begin_letter(environment: Environment) -> EmailCase:
    uuid, now = new_uuid(), environment.queue.clock.seconds()
    address = f"{uuid}@example.com"
    account_id = await create_account(environment.store, uuid, now, address)
    args = AlertMailArgs(account_id=account_id, lines=("web is busy.",), more=2, noticed=now)
    job = await environment.queue.enqueue(environment.store, SEND, args, account_id=account_id)
    subject = "Instances exceed their alerts"
    return EmailCase(environment.services.get(MailServer), address, subject, job.id)


SCENARIOS = (
    Scenario(READ, begin, "read counters"),
    Scenario(WATCH, begin_watch, "alerts"),
    Scenario(SEND, begin_letter, "email"),
)
