"""Charging invoices by itself, again when a card is declined, and telling accounts of it."""

from datetime import datetime

from roost.core import account_queries as accounts
from roost.core.events.log import Starter
from roost.jobs.queue import JobQueue
from roost.resources.payments import collect_queries, mail_jobs, queries, rules
from roost.resources.payments.collect_queries import Debtor, Declined, Tries
from roost.resources.payments.engine import Gateways
from roost.resources.payments.mail_jobs import DeclinedArgs
from roost.resources.payments.service import owed_by, start_payment
from roost.resources.support.engine import SupportRules
from roost.services import Services
from roost.store import Queries, Store

_PAGE = 100


async def collect(store: Store, services: Services, now: datetime) -> None:
    """Charge the default cards of all accounts for invoices that are new, or again (UTC).

    What cannot be charged for now stays so: a card that has expired, or what a payment is on its
    way for.
    """
    if services.get(Gateways).gateway is None:
        return
    after = 0
    while found := await collect_queries.debtors(store, now, after, _PAGE):
        for debtor in found:
            async with store.transaction() as db:
                await _charge(db, services, debtor, now)
        after = found[-1].id


async def _charge(db: Queries, services: Services, debtor: Debtor, now: datetime) -> None:
    account = await accounts.lock(db, debtor.id)
    method = await queries.find_method(db, debtor.id, None)
    owed = await owed_by(db, debtor.id)
    if (
        account.canceled
        or method is None
        or owed <= 0
        or rules.has_expired(method.expiry.month, method.expiry.year, now)
    ):
        return
    tries = _next(await collect_queries.tries_of(db, debtor.id), debtor.invoice_id, now)
    if tries is None:
        return  # Another worker was faster.
    await collect_queries.set_tries(db, debtor.id, tries)
    payment_id = await queries.insert_payment(db, debtor.id, owed, now, method.id)
    await start_payment(Starter(services.get(JobQueue), db, debtor.id), payment_id)


def _next(last: Tries, invoice_id: int, now: datetime) -> Tries | None:
    if invoice_id > last.invoice_id:
        return Tries(invoice_id, 1, rules.charged_again(1, now))
    if last.again is None or last.again > now:
        return None
    count = last.count + 1
    return Tries(last.invoice_id, count, rules.charged_again(count, now))


async def tell(store: Store, services: Services) -> None:
    """Write to accounts whose card was declined, once for each try."""
    while found := await collect_queries.declined(store, _PAGE):
        for each in found:
            async with store.transaction() as db:
                await _tell(db, services, each)


async def _tell(db: Queries, services: Services, each: Declined) -> None:
    if not await collect_queries.set_told(db, each.id, each.tries):
        return
    if services.get(SupportRules).mail is None:
        return
    last = await collect_queries.tries_of(db, each.id)
    args = DeclinedArgs(
        account_id=each.id,
        invoice_id=last.invoice_id,
        tries=each.tries,
        owed=each.owed,
        again=each.again,
    )
    await services.get(JobQueue).enqueue(db, mail_jobs.SEND, args, account_id=each.id)
