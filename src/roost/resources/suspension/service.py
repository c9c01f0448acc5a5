"""Suspending accounts, and letting them go on."""

from collections.abc import AsyncIterator
from datetime import datetime

from roost.core.suspensions import Suspensions
from roost.jobs.queue import JobQueue
from roost.resources.payments.rules import DUE
from roost.resources.support.engine import SupportRules
from roost.resources.suspension import jobs, mail_jobs, queries
from roost.resources.suspension.mail_jobs import LetterArgs, Occasion
from roost.resources.suspension.queries import Cause
from roost.resources.suspension.settings import WARNED_BEFORE, Grace
from roost.services import Services
from roost.store import Queries, Store

_PAGE = 100
DEBT = "A payment is past due."


class SuspensionError(Exception):
    """What an operator asked for makes no sense."""


async def suspend(db: Queries, account_id: int, cause: Cause, reason: str, now: datetime) -> None:
    """All that the account has rests soon (UTC). Raises SuspensionError."""
    facts = await queries.lock(db, account_id)
    if facts is None or facts.canceled:
        raise SuspensionError(f"there is no account {account_id}, or it is canceled")
    await queries.suspend(db, account_id, cause, reason, now)


async def resume(db: Queries, account_id: int) -> None:
    """What ran before runs again soon. Raises SuspensionError."""
    facts = await queries.lock(db, account_id)
    if facts is None or not facts.suspended:
        raise SuspensionError(f"account {account_id} is not suspended")
    await queries.resume(db, account_id)


async def is_late(db: Queries, account_id: int, now: datetime) -> bool:
    """Whether an account owes for an invoice that is due (UTC)."""
    return await queries.is_late(db, account_id, now - DUE)


async def look_for_debtors(store: Store, services: Services, now: datetime) -> None:
    """Warn and suspend those that are late, and let go on who has paid (UTC)."""
    for account_id in await queries.paid(store, now - DUE):
        async with store.transaction() as db:
            await _forgive(db, services, account_id, now)
    grace = services.get(Grace).time
    if grace is None:
        return
    limit = now - DUE - grace
    async for account_id in _late(store, limit):
        async with store.transaction() as db:
            await _suspend(db, services, account_id, now)
    async for account_id in _late(store, min(now - DUE, limit + WARNED_BEFORE)):
        async with store.transaction() as db:
            await _warn(db, services, account_id, now)


async def _late(store: Store, before: datetime) -> AsyncIterator[int]:
    after = 0
    while page := await queries.late(store, before, after, _PAGE):
        for account_id in page:
            yield account_id
        after = page[-1]


async def _forgive(db: Queries, services: Services, account_id: int, now: datetime) -> None:
    facts = await queries.lock(db, account_id)
    if facts is None or await is_late(db, account_id, now):
        return
    if facts.cause == "debt":
        await queries.resume(db, account_id)
        await _write(db, services, account_id, "resumed")
    else:
        await queries.set_warned(db, account_id, None)


async def _suspend(db: Queries, services: Services, account_id: int, now: datetime) -> None:
    """Unless somebody was faster, or it has paid meanwhile."""
    facts = await queries.lock(db, account_id)
    if facts is None or facts.suspended or facts.canceled:
        return
    if not await is_late(db, account_id, now):
        return
    await queries.suspend(db, account_id, "debt", DEBT, now)
    await _write(db, services, account_id, "suspended")


async def _warn(db: Queries, services: Services, account_id: int, now: datetime) -> None:
    facts = await queries.lock(db, account_id)
    if facts is None or facts.suspended or facts.warned is not None:
        return
    await queries.set_warned(db, account_id, now)
    await _write(db, services, account_id, "warned")


async def _write(db: Queries, services: Services, account_id: int, occasion: Occasion) -> None:
    if services.get(SupportRules).mail is not None:
        args = LetterArgs(account_id=account_id, occasion=occasion)
        await services.get(JobQueue).enqueue(db, mail_jobs.SEND, args, account_id=account_id)


async def settle_all(store: Store, services: Services) -> None:
    """Start a job for each account of which something is not as the account is."""
    queue = services.get(JobQueue)
    for account_id in await services.get(Suspensions).unsettled_accounts(store):
        if not await queue.busy(store, jobs.resource_of(account_id)):
            args = jobs.AccountArgs(account_id=account_id)
            await queue.enqueue(store, jobs.SETTLE, args, account_id=account_id)
