"""Cancelling an account, and going on with it (spec B account 2, B account 3)."""

from collections.abc import Iterable
from datetime import datetime

from roost.core.context import Context
from roost.core.endings import Endings
from roost.errors import forbidden, invalid
from roost.jobs.queue import JobQueue
from roost.resources.cancellation import queries, rules
from roost.resources.cancellation.charge_service import ON_ITS_WAY
from roost.resources.cancellation.jobs import CLOSE, CloseArgs, resource_of
from roost.resources.payments import queries as payments
from roost.resources.payments.service import conflict
from roost.resources.tokens.service import check_maker, revoke_all
from roost.resources.users.service import find_caller
from roost.services import Services
from roost.store import Queries, Store


async def cancel(context: Context, until: datetime, comments: str) -> None:
    """Nobody acts for the account any more, and a job ends all that it has.

    `until` is when it has paid for everything (UTC). Of two at once the second finds it done.
    Raises 403 for a user who is restricted by now, 400 for a parent with children, and 409 while a
    payment is on its way.
    """
    await check_maker(context)
    facts = await queries.lock(context.db, context.account_id)
    if facts.canceled is not None:
        return
    if (await find_caller(context)).restricted:  # Since the card was charged.
        raise forbidden()
    if (reason := rules.objection(facts)) is not None:
        raise invalid(reason)
    if await payments.pending(context.db, facts.id):
        raise conflict(ON_ITS_WAY)
    await queries.cancel(context.db, facts.id, until, context.identity.username, comments)
    await revoke_all(context)
    await start(context.db, context.get(JobQueue), facts.id)


async def start(db: Queries, queue: JobQueue, account_id: int) -> None:
    """Let a job end what a canceled account has."""
    await queue.enqueue(db, CLOSE, CloseArgs(account_id=account_id), account_id=account_id)


async def unended(store: Store, services: Services) -> dict[int, list[str]]:
    """Canceled accounts that no job works on though they have something, and what that is."""
    held = await services.get(Endings).of_canceled(store)
    wanted = sorted({*held, *await queries.unclosed(store)})
    idle = await _idle(store, services.get(JobQueue), wanted)
    return {account_id: held.get(account_id, []) for account_id in idle}


async def _idle(db: Queries, queue: JobQueue, account_ids: Iterable[int]) -> list[int]:
    return [each for each in account_ids if not await queue.busy(db, resource_of(each))]
