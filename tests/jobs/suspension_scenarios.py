"""Suspended accounts for the harness: wherever the work is killed, all is as the account is."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from roost.core.events import log
from roost.core.instance_queries import InstanceStatus
from roost.ids import new_uuid
from roost.jobs import Environment, JobArgs
from roost.resources.account.queries import create_account
from roost.resources.compute.engine import Power
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.suspension_jobs import SUSPEND, SuspendArgs
from roost.resources.databases import jobs as databases
from roost.resources.databases.queries import DATABASE
from roost.resources.databases.records import DatabaseStatus
from roost.resources.databases.steps import DatabaseArgs
from roost.resources.suspension import queries as accounts
from roost.resources.suspension.jobs import SETTLE, AccountArgs
from roost.resources.suspension.mail_jobs import SEND, LetterArgs
from roost.resources.suspension.watch_jobs import WATCH
from tests.jobs.compute_scenarios import InstanceCase, finish_jobs
from tests.jobs.emails import EmailCase
from tests.jobs.harness import Scenario
from tests.support.database_stage import DatabaseStage
from tests.support.mail import MailServer
from tests.support.stage import Stage

Look = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Case:
    """A Case of the harness."""

    job_id: int
    done: Look
    failed: Look

    async def check_done(self) -> None:
        await self.done()

    async def check_failed(self) -> None:
        await self.failed()


async def begin_suspend(environment: Environment, status: InstanceStatus) -> InstanceCase:
    stage = environment.services.get(Stage)
    power: Power = "running" if status == "running" else "offline"
    compute_id = await stage.instance(status, power)
    row = await stage.row(compute_id)
    args = SuspendArgs(compute_id=compute_id, booted=power == "running")
    async with environment.store.transaction() as db:
        by = log.Starter(environment.queue, db, row.account_id)
        await log.start(by, SUSPEND, args, COMPUTE.of(row))
        job_id: int = await db.fetchval("select max(id) from job where finished is null")
    rests: tuple[InstanceStatus, Power] = ("billing_suspension", "offline")
    return InstanceCase(stage, compute_id, job_id, rests, ((status, power),))


async def begin_database(environment: Environment, resume: bool) -> Case:
    stage = DatabaseStage(environment.services.get(Stage))
    database_id = await stage.database("suspended" if resume else "active")
    if resume:
        await stage.engine.rest(database_id)
    kind = databases.RESUME if resume else databases.SUSPEND
    async with environment.store.transaction() as db:
        account_id = await db.fetchval("select min(id) from account")
        by = log.Starter(environment.queue, db, account_id)
        args = DatabaseArgs(database_id=database_id)
        await log.start(by, kind, args, DATABASE.entity(database_id, "label"))
        job_id: int = await db.fetchval("select max(id) from job where finished is null")

    async def look(status: DatabaseStatus) -> None:
        row, state = await stage.row(database_id), await stage.engine.inspect(database_id)
        assert row is not None
        assert state is not None
        assert (row.status, state.running) == (status, status == "active")

    awake, asleep = partial(look, "active"), partial(look, "suspended")
    return Case(job_id, awake, asleep) if resume else Case(job_id, asleep, awake)


async def begin_settle(environment: Environment, resume: bool) -> Case:
    """An account with an instance that runs, or that ran before it was suspended."""
    stage, store = environment.services.get(Stage), environment.store
    now = environment.queue.clock.seconds()
    account_id = await create_account(store, new_uuid(), now)
    compute_id = await stage.instance("running", "offline" if resume else "running")
    for table, key in (("compute_instance", "id"), ("ip_address", "compute_id")):
        sql = f"update {table} set account_id = $2 where {key} = $1"
        await store.execute(sql, compute_id, account_id)
    if resume:
        await stage.change(compute_id, "status = 'billing_suspension', former_status = 'running'")
    else:
        await accounts.suspend(store, account_id, "operator", "a test", now)
    args = AccountArgs(account_id=account_id)
    job = await environment.queue.enqueue(store, SETTLE, args, account_id=account_id)

    async def done() -> None:
        await finish_jobs(stage)
        status = "running" if resume else "billing_suspension"
        assert await stage.status(compute_id) == status
        assert await stage.power(compute_id) == ("running" if resume else "offline")

    async def failed() -> None:
        """It goes on with the next look of the watch; what was begun is whole."""
        await finish_jobs(stage)
        assert await stage.status(compute_id) in ("running", "billing_suspension")

    return Case(job.id, done, failed)


async def begin_watch(environment: Environment) -> Case:
    stage, store = environment.services.get(Stage), environment.store
    now = environment.queue.clock.seconds()
    account_id = await create_account(store, new_uuid(), now)
    compute_id = await stage.instance("running", "running")
    await stage.change(compute_id, "account_id = $2", account_id)
    await accounts.suspend(store, account_id, "operator", "a test", now)
    job = await environment.queue.enqueue(store, WATCH, JobArgs())

    async def look(*counts: int) -> None:
        sql = "select count(*) from job where account_id = $1 and kind = $2"
        assert await store.fetchval(sql, account_id, SETTLE.name) in counts

    return Case(job.id, partial(look, 1), partial(look, 0, 1))


async def begin_letter(environment: Environment) -> EmailCase:
    store, now = environment.store, environment.queue.clock.seconds()
    account_id = await create_account(store, new_uuid(), now)
    address = f"{account_id}@example.com"
    sql = "update account set email = $2, balance = 20 where id = $1"
    await store.execute(sql, account_id, address)
    args = LetterArgs(account_id=account_id, occasion="suspended")
    job = await environment.queue.enqueue(store, SEND, args, account_id=account_id)
    mails = environment.services.get(MailServer)
    return EmailCase(mails, address, "Your services are suspended", job.id)


SCENARIOS = (
    Scenario(SUSPEND, partial(begin_suspend, status="running"), "suspend what runs"),
    Scenario(SUSPEND, partial(begin_suspend, status="offline"), "suspend what is off"),
    Scenario(databases.SUSPEND, partial(begin_database, resume=False), "suspend a database"),
    Scenario(databases.RESUME, partial(begin_database, resume=True), "resume a database"),
    Scenario(SETTLE, partial(begin_settle, resume=False), "suspend an account"),
    Scenario(SETTLE, partial(begin_settle, resume=True), "resume an account"),
    Scenario(WATCH, begin_watch, "watch of suspensions"),
    Scenario(SEND, begin_letter, "email of a suspension"),
)
