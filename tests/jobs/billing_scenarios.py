"""Invoicing for the harness: wherever it is killed, no invoice is missing or made twice."""

from dataclasses import dataclass

from roost.ids import new_uuid
from roost.jobs import Environment, JobArgs
from roost.resources.account.queries import create_account
from roost.resources.billing.jobs import INVOICE
from roost.resources.billing.mail_jobs import SEND
from tests.jobs.emails import EmailCase
from tests.jobs.harness import Scenario
from tests.support.invoices import charged_last_month, invoiced, wrong_books
from tests.support.mail import MailServer
from tests.support.stage import Stage


@dataclass(frozen=True)
class InvoiceCase:
    """An account that used something last month."""

    stage: Stage
    account_id: int
    job_id: int

    async def check_done(self) -> None:
        assert await self._invoices() == 1
        assert await wrong_books(self.stage.roost.store, self.account_id) == []

    async def check_failed(self) -> None:
        """What was invoiced is invoiced; the next hour does the rest."""
        assert await self._invoices() in (0, 1)
        assert await wrong_books(self.stage.roost.store, self.account_id) == []

    async def _invoices(self) -> int:
        sql = "select count(*) from invoice where account_id = $1"
        found: int = await self.stage.roost.store.fetchval(sql, self.account_id)
        return found


async def begin(environment: Environment) -> InvoiceCase:
    stage = environment.services.get(Stage)
    account_id = await create_account(
        environment.store, new_uuid(), environment.queue.clock.seconds()
    )
    await charged_last_month(stage.roost, account_id)
    job = await environment.queue.enqueue(environment.store, INVOICE, JobArgs())
    return InvoiceCase(stage, account_id, job.id)


async def begin_mail(environment: Environment) -> EmailCase:
    store, roost = environment.store, environment.services.get(Stage).roost
    uuid = new_uuid()
    address = f"{uuid}@example.com"
    account_id = await create_account(store, uuid, environment.queue.clock.seconds(), address)
    invoice_id = await invoiced(roost, account_id)
    sql = "select id from job where kind = $1 and account_id = $2"
    job_id = await store.fetchval(sql, SEND.name, account_id)
    # Accounts that other scenarios have left are invoiced with it, and would meet its faults.
    await store.execute("delete from job where kind = $1 and id <> $2", SEND.name, job_id)
    subject = f"Invoice #{invoice_id}: 0.07 USD"
    return EmailCase(environment.services.get(MailServer), address, subject, job_id)


SCENARIOS = (Scenario(INVOICE, begin, "invoices"), Scenario(SEND, begin_mail, "email"))
