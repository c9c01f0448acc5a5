"""Conditions and letters for the harness."""

import itertools
from dataclasses import dataclass
from functools import partial

from roost.core.conditions import Condition, Found
from roost.jobs import Environment
from roost.jobs.kinds import JobArgs
from roost.resources.conditions import queries
from roost.resources.conditions.engine import Channel
from roost.resources.conditions.jobs import WATCH
from roost.resources.conditions.letter_jobs import LETTER, LetterArgs, delivery_of
from tests.jobs.harness import Scenario
from tests.support.mail import OPERATOR, MailServer
from tests.support.webhooks import WebhookServer

_NUMBERS = itertools.count()


@dataclass(frozen=True)
class LetterCase:
    """A letter may come twice after a crash, but then it is the same one."""

    mails: MailServer
    webhooks: WebhookServer
    channel: Channel
    args: LetterArgs
    job_id: int

    async def check_done(self) -> None:
        assert self._found() == {delivery_of(self.args)}

    async def check_failed(self) -> None:
        assert self._found() <= {delivery_of(self.args)}

    def _found(self) -> set[str]:
        ids = {message["id"] for message in self.webhooks.messages}
        if self.channel == "mail":
            mails = self.mails.to(OPERATOR)
            ids = {email["Message-ID"].strip("<").partition(".")[0] for email in mails}
        return ids & {delivery_of(self.args)}


async def begin_letter(environment: Environment, channel: Channel) -> LetterCase:
    store, now = environment.store, environment.queue.clock.seconds()
    subject = f"test-{next(_NUMBERS)}"
    found = Condition("disk_low", subject, "warning", "The disk is low.")
    await queries.note(store, Found((found,), ("disk_low",)), now)
    condition_id = await store.fetchval(
        "select id from operator_condition where subject = $1", subject
    )
    args = LetterArgs(condition_id=condition_id, ended=False, channel=channel)
    job = await environment.queue.enqueue(store, LETTER, args)
    services = environment.services
    return LetterCase(services.get(MailServer), services.get(WebhookServer), channel, args, job.id)


@dataclass(frozen=True)
class WatchCase:
    """One condition has begun, which a job that failed makes, and one has ended."""

    environment: Environment
    ended: str
    job_id: int

    async def check_done(self) -> None:
        assert await self._open("jobs_failed", "toy") == 1
        assert await self._open("disk_low", self.ended) == 0
        await self._forget()

    async def check_failed(self) -> None:
        assert await self._open("jobs_failed", "toy") <= 1
        await self._forget()

    async def _open(self, kind: str, subject: str) -> int:
        count: int = await self.environment.store.fetchval(
            """
            select count(*) from operator_condition
            where kind = $1 and subject = $2 and ended is null
            """,
            kind,
            subject,
        )
        return count

    async def _forget(self) -> None:
        await self.environment.store.execute("delete from job where kind = 'toy'")
        await self.environment.store.execute("delete from operator_condition")


async def begin_watch(environment: Environment) -> WatchCase:
    store, subject = environment.store, f"test-{next(_NUMBERS)}"
    now = environment.queue.clock.seconds()
    gone = Condition("disk_low", subject, "warning", "The disk is low.")
    await queries.note(store, Found((gone,), ("disk_low",)), now)
    await store.execute(
        """
        insert into job (kind, args, step, status, run_at, deadline, created, finished)
        values ('toy', '{}', 'fail', 'failed', $1, now(), $1, $1)
        """,
        now,
    )
    job = await environment.queue.enqueue(store, WATCH, JobArgs())
    return WatchCase(environment, subject, job.id)


SCENARIOS = (
    Scenario(LETTER, partial(begin_letter, channel="mail"), "operator letter by mail"),
    Scenario(LETTER, partial(begin_letter, channel="webhook"), "operator letter by webhook"),
    Scenario(WATCH, begin_watch, "conditions"),
)
