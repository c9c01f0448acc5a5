"""The last charge: what an account owes goes to its default card before it is canceled.

A job charges it, as it does all payments: it goes on wherever a process is killed, and charges
once. What was paid stays the account's credit, so that whoever cancels again pays no second time.
"""

import asyncio
from datetime import datetime
from functools import partial
from time import monotonic
from typing import Literal

from roost.core.billing import promotion_queries
from roost.core.billing.queries import standing
from roost.core.context import Context
from roost.core.events.log import Starter
from roost.errors import invalid, unauthenticated
from roost.jobs.queue import JobQueue
from roost.resources.billing.service import Due, due_until
from roost.resources.cancellation import queries, rules
from roost.resources.payments import queries as payments
from roost.resources.payments.engine import Gateways
from roost.resources.payments.service import charge_default, conflict
from roost.store import Queries, Store

PATIENCE = 20.0
"""Seconds that a request waits for a card."""
_PAUSE = 0.1

ON_ITS_WAY = "A payment is on its way; cancel again when it has ended"
FAILED = "What the account owes could not be charged: the payment of ${:.2f} was declined"


async def charge_all(context: Context, store: Store) -> datetime:
    """Up to when the account has paid for everything (UTC), called while no transaction is open.

    Without a gateway, and of children, nothing is charged: what they owe is collected in another
    way. Raises 400 for a parent with children, and 409 when the account cannot pay.
    """
    deadline = monotonic() + PATIENCE
    while True:
        facts = await queries.find(store, context.account_id)
        if facts is None or facts.canceled is not None:
            raise unauthenticated()
        if (reason := rules.objection(facts)) is not None:
            raise invalid(reason)
        until = context.clock.seconds()
        if context.get(Gateways).gateway is None or facts.is_child:
            return until
        if await payments.pending(store, facts.id):
            await _wait(deadline)
            continue
        due = await due_until(store, context.services, facts.id, until)
        begun = await store.commit(partial(_begin, context, due))
        if begun == "paid":
            return until
        if begun != "wait":
            await _await_payment(store, begun, deadline)
            return until
        await _wait(deadline)


async def _begin(context: Context, due: Due, db: Queries) -> Literal["paid", "wait"] | int:
    """The id of a payment of all that is owed, unless nothing is, or something is on its way."""
    await queries.lock(db, context.account_id)
    now = await standing(db, context.account_id)
    pending = await payments.pending(db, context.account_id)
    promotions = await promotion_queries.count(db, context.account_id)
    if pending or (now.invoiced_until, promotions) != (due.since, due.promotions):
        return "wait"
    owed = now.balance + due.total
    if owed <= 0:
        return "paid"
    by = Starter(context.get(JobQueue), db, context.account_id, context.identity.username)
    return await charge_default(by, owed)


async def _await_payment(store: Store, payment_id: int, deadline: float) -> None:
    """Raises 409 when the payment was declined."""
    while True:
        payment = await payments.find_payment(store, payment_id)
        assert payment is not None
        if payment.status == "declined":
            raise conflict(FAILED.format(payment.usd))
        if payment.status == "accepted":
            return
        await _wait(deadline)


async def _wait(deadline: float) -> None:
    if monotonic() > deadline:
        raise conflict(ON_ITS_WAY)
    await asyncio.sleep(_PAUSE)
