"""Use cases of transfers: instances that go from one account to another."""

from collections.abc import Collection, Iterable
from datetime import timedelta

from roost.core import account_queries as accounts
from roost.core import instance_queries
from roost.core.context import Context
from roost.core.events import log
from roost.core.events.log import Starter
from roost.core.instance_queries import InstanceFacts
from roost.core.limits.check import check_limits
from roost.core.limits.queries import hold
from roost.core.neighbours import Neighbours
from roost.core.suspensions import SUSPENDED
from roost.errors import ApiError, Problem, invalid, invalid_fields, not_found
from roost.ids import new_uuid
from roost.jobs.queue import JobQueue
from roost.resources.compute import transfer_service
from roost.resources.compute.limits import COMPUTES
from roost.resources.compute.locks import check_idle
from roost.resources.payments.service import check_can_pay, is_past_due
from roost.resources.transfers import queries
from roost.resources.transfers.queries import TRANSFER, TransferFacts

LIFE = timedelta(hours=24)
FIELD = "entities.computes"
_NOT_PENDING = "The transfer is not pending"
_GIVER_SUSPENDED = "The account that offers this transfer is suspended"
_LATE = "An account whose payment is past due cannot transfer anything"


async def create(context: Context, computes: Collection[int]) -> str:
    """Offer instances of the account; the token of the transfer.

    Raises 403 for an account that is suspended, 400 for one whose payment is past due, and with
    all instances that cannot go.
    """
    await hold(context.db, "transfers", context.account_id)
    await _check_accounts(context, context.account_id)
    problems = [
        Problem(f"Compute {each} is in another pending transfer", FIELD)
        for each in await queries.offered(context.db, context.account_id, computes)
    ]
    for facts in await _lock_all(context, context.account_id, computes):
        problems += [Problem(text, FIELD) for text in await _objections(context, facts)]
    if problems:
        raise invalid_fields(problems)
    token, now = new_uuid().upper(), context.clock.seconds()
    await queries.insert(context.db, token, context.account_id, computes, now, now + LIFE)
    await log.notify(context, "entity_transfer_create", TRANSFER.entity(token))
    return token


async def cancel(context: Context, token: str) -> None:
    """Raises 404 for one of another account, 400 for one that is not pending."""
    found = await queries.lock(context.db, token)
    if found is None or found.account_id != context.account_id:
        raise not_found()
    _check_pending(context, found)
    await queries.set_status(context.db, token, "canceled", context.clock.seconds())
    await log.notify(context, "entity_transfer_cancel", TRANSFER.entity(token))


async def accept(context: Context, token: str) -> None:
    """Take what another account offers. All of it goes, or nothing.

    Raises 404 for an unknown one, 403 when one of the accounts is suspended, and 400 when something
    has changed since it was offered, the payment of one of them is past due, or the receiver would
    have too much or cannot pay.
    """
    found = await queries.lock(context.db, token)
    if found is None or not _may_know(context, found):
        raise not_found()
    _check_pending(context, found)
    if found.account_id == context.account_id:
        raise invalid("A transfer is accepted by another account")
    await _check_accounts(context, found.account_id, context.account_id)
    await check_can_pay(context)
    taken = await _lock_all(context, found.account_id, found.computes)
    for facts in taken:
        await check_idle(context, facts)
    problems = [
        Problem(text, FIELD) for facts in taken for text in await _objections(context, facts)
    ]
    if len(taken) != len(found.computes):
        problems.append(Problem("A Compute of the transfer is gone", FIELD))
    if problems:
        raise invalid_fields(problems)
    now = context.clock.seconds()
    for facts in taken:
        await transfer_service.move(context.db, facts, context.account_id, now)
    await queries.set_status(context.db, token, "completed", now, context.account_id)
    sender = Starter(context.get(JobQueue), context.db, found.account_id)
    for by in (context, sender):
        await log.notify(by, "entity_transfer_accept", TRANSFER.entity(token))
    await check_limits(context, COMPUTES)


async def _lock_all(
    context: Context, account_id: int, computes: Iterable[int]
) -> list[InstanceFacts]:
    """Those that the account still has, by id."""
    found = [
        await instance_queries.lock(context.db, account_id, each) for each in sorted(set(computes))
    ]
    return [facts for facts in found if facts is not None]


async def _objections(context: Context, facts: InstanceFacts) -> list[str]:
    """Why an instance cannot go to another account."""
    reasons = await context.get(Neighbours).ties(context.db, facts.id)
    reasons += await transfer_service.ties(context.db, facts)
    return [f"Compute {facts.id} {reason}" for reason in reasons]


def _may_know(context: Context, found: TransferFacts) -> bool:
    """Whether one may see a transfer: for what can be accepted, the token is enough."""
    return found.status == "pending" or context.account_id in (found.account_id, found.receiver_id)


def _check_pending(context: Context, found: TransferFacts) -> None:
    if found.status != "pending" or found.expiry <= context.clock.now():
        raise invalid(_NOT_PENDING)


async def _check_accounts(context: Context, *account_ids: int) -> None:
    """403 when one is suspended, 400 when one is late with a payment, or is being closed; they stay
    as they are until the transaction ends."""
    for account_id in sorted(account_ids):
        facts = await accounts.hold(context.db, account_id)
        if facts is None or facts.canceled:
            raise invalid(_NOT_PENDING)
        if facts.suspended:
            own = account_id == context.account_id
            raise ApiError(403, [Problem(SUSPENDED if own else _GIVER_SUSPENDED)])
        if await is_past_due(context.db, account_id, context.clock.now()):
            raise invalid(_LATE)
