"""Use cases of payments: cards on file, and what is charged to them."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

import structlog

from roost.core import account_queries as accounts
from roost.core.context import Context
from roost.core.events import log
from roost.core.events.log import Starter
from roost.errors import ApiError, Problem, invalid, not_found, unauthenticated
from roost.jobs.queue import JobQueue
from roost.resources.account.entity import ACCOUNT_KIND
from roost.resources.payments import credit_queries, queries, rules
from roost.resources.payments.card_jobs import FORGET, CardArgs
from roost.resources.payments.engine import Card, DeclinedError, GatewayError, Gateways
from roost.resources.payments.jobs import PAYMENT, PaymentArgs, accept, payment_of, resource_of
from roost.resources.payments.queries import Counts, NewMethod, Status
from roost.secrets import Box
from roost.store import Queries

_LOOKS, _PAUSE = 40, 0.05
"""How often, and after how many seconds, it is asked whether a card has been charged."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StoredCard:
    """A card that the gateway has, and what is kept of it here."""

    token: str = field(repr=False)
    card_type: str
    last_four: str
    expiry: datetime


async def store_card(context: Context, card: Card, within: str = "") -> StoredCard:
    """Give a card to the gateway, called while no transaction is open. `within`: the name of the
    body's field that holds the card, with a dot behind it.

    Raises 400 for one that has expired or is refused, and when no cards are taken.
    """
    if rules.has_expired(card.expiry_month, card.expiry_year, context.clock.now()):
        raise invalid("The card has expired", f"{within}expiry_year")
    await _check_room(context)
    gateway = context.get(Gateways).gateway
    if gateway is None:
        raise invalid("Cards are not accepted here", f"{within}card_number")
    try:
        token = await gateway.store_card(card)
    except DeclinedError as error:
        raise invalid(str(error), f"{within}card_number") from error
    except GatewayError as error:
        _log.warning("card_not_stored", reason=str(error))
        raise invalid("The card could not be checked; try again later") from error
    return StoredCard(
        token,
        rules.brand_of(card.number),
        card.number[-4:],
        datetime(card.expiry_year, card.expiry_month, 1),
    )


async def add_method(context: Context, card: StoredCard, *, is_default: bool) -> int:
    """The first one is the default one. Raises 400 for one too many (spec B account 5)."""
    await accounts.lock(context.db, context.account_id)
    counts = await _check_room(context)
    if is_default:
        await queries.clear_default(context.db, context.account_id)
    new = NewMethod(
        account_id=context.account_id,
        is_default=is_default or counts.active == 0,
        now=context.clock.seconds(),
        card_type=card.card_type,
        last_four=card.last_four,
        expiry=card.expiry,
        token=context.get(Box).seal(card.token.encode()),
    )
    method_id = await queries.insert_method(context.db, new)
    if new.is_default:
        await _show_card(context, card.last_four, card.expiry)
    return method_id


async def _show_card(context: Context, last_four: str, expiry: datetime) -> None:
    """What the account's record says is on file."""
    await queries.set_card(context.db, context.account_id, last_four, f"{expiry:%m/%Y}")


async def _check_room(context: Context) -> Counts:
    """Before the gateway is asked, too: who has too many asks it for nothing."""
    counts = await queries.count_methods(context.db, context.account_id, context.clock.seconds())
    if counts.active >= rules.MAX_METHODS:
        raise invalid(f"An account has up to {rules.MAX_METHODS} payment methods")
    if counts.added >= rules.MAX_ADDED:
        raise invalid(f"Up to {rules.MAX_ADDED} payment methods can be added in a day")
    return counts


async def make_default(context: Context, method_id: int) -> None:
    """Raises 404, and 400 for one that has expired."""
    await accounts.lock(context.db, context.account_id)
    method = await queries.find_method(context.db, context.account_id, method_id)
    if method is None:
        raise not_found()
    _check_expiry(method.expiry, context.clock.now())
    await queries.make_default(context.db, context.account_id, method_id)
    await _show_card(context, method.last_four, method.expiry)


async def remove_method(context: Context, method_id: int) -> None:
    """Raises 404, and 400 for the default one (spec B account 6)."""
    await accounts.lock(context.db, context.account_id)
    method = await queries.find_method(context.db, context.account_id, method_id)
    if method is None:
        raise not_found()
    if method.is_default:
        raise invalid("The default payment method cannot be deleted; make another one default")
    await queries.remove_method(context.db, method_id, context.clock.seconds())
    await forget_cards(context.db, context.get(JobQueue), context.account_id, [method_id])


async def forget_cards(
    db: Queries, queue: JobQueue, account_id: int, method_ids: Iterable[int]
) -> None:
    """Have the gateway keep cards no longer that were removed."""
    for method_id in method_ids:
        args = CardArgs(method_id=method_id, account_id=account_id)
        await queue.enqueue(db, FORGET, args, account_id=account_id)


async def ask_again(db: Queries, queue: JobQueue, key: str) -> None:
    """The gateway says that it has decided on the charge with this key."""
    payment_id = payment_of(key)
    payment = None if payment_id is None else await queries.find_payment(db, payment_id)
    if payment is not None and payment.status == "pending":
        await queue.hasten_all(db, resource_of(payment.account_id))


async def check_can_pay(context: Context) -> None:
    """Raises 400 for an account without a card on file, where cards are how accounts pay."""
    method = await queries.find_method(context.db, context.account_id, None)
    if method is None and context.get(Gateways).gateway is not None:
        raise invalid("The account needs a payment method")


async def is_past_due(db: Queries, account_id: int, now: datetime) -> bool:
    """Whether an account owes something beside the invoices that are not due yet (UTC)."""
    return await queries.owes_since(db, account_id, now - rules.DUE)


async def pay(context: Context, usd: Decimal, method_id: int | None) -> int:
    """A payment by a card on file, which a job carries out (spec B account 7).

    Raises 400 for an amount out of bounds, and for a method that is none or has expired.
    """
    if (await accounts.lock(context.db, context.account_id)).canceled:
        raise unauthenticated()
    method = await queries.find_method(context.db, context.account_id, method_id)
    if method is None and method_id is None:
        raise invalid("There is no default payment method")
    if method is None:
        raise invalid("payment_method_id is not valid", "payment_method_id")
    _check_expiry(method.expiry, context.clock.now(), "payment_method_id")
    problem = rules.amount_problem(usd, await owed_by(context.db, context.account_id))
    if problem is not None:
        raise invalid(problem, "usd")
    now = context.clock.seconds()
    payment_id = await queries.insert_payment(context.db, context.account_id, usd, now, method.id)
    await start_payment(context, payment_id)
    return payment_id


async def outcome(context: Context, payment_id: int) -> Status:
    """What has become of a payment; `pending` where that takes longer than a moment."""
    status: Status = "pending"
    for _ in range(_LOOKS):
        payment = await queries.find_payment(context.db, payment_id)
        status = "declined" if payment is None else payment.status
        if status != "pending":
            break
        await asyncio.sleep(_PAUSE)
    return status


async def record(db: Queries, account_id: int, usd: Decimal, now: datetime) -> int:
    """What an account has paid in another way (UTC, US dollars)."""
    payment_id = await queries.insert_payment(db, account_id, usd, now)
    await settle(db, payment_id, "accepted", now)
    return payment_id


async def settle(
    db: Queries, payment_id: int, status: Literal["accepted", "declined"], now: datetime
) -> bool:
    """What the operator knows of a payment (UTC); False for one that is not pending."""
    payment = await queries.find_payment(db, payment_id)
    if payment is None or payment.status != "pending":
        return False
    if status == "accepted":
        await accept(db, payment, now)
    else:
        await queries.end_payment(db, payment_id, "declined")
    return True


class CreditError(Exception):
    """A key that stands for another credit."""


async def credit(
    db: Queries, account_id: int, usd: Decimal, reason: str, key: str | None, now: datetime
) -> int:
    """Let an account owe less, as its operator wants (UTC, US dollars); more, below 0.

    The id of the credit, which a key gives once only. Raises CreditError.
    """
    given = await credit_queries.give(db, account_id, usd, reason, key, now)
    if given is not None:
        return given
    assert key is not None
    known = await credit_queries.find_by_key(db, key)
    if (known.account_id, known.usd) != (account_id, usd):
        raise CreditError(f"The key {key} is of credit {known.id}, which is another one")
    return known.id


async def charge_default(by: Starter, usd: Decimal) -> int:
    """A payment of any amount by the default card, whose account the caller has locked; its id.

    Raises 409 when there is no such card, or it has expired.
    """
    method, now = await queries.find_method(by.db, by.account_id, None), by.queue.clock.seconds()
    if method is None:
        raise conflict(f"The account owes ${usd:.2f} and has no default payment method")
    if rules.has_expired(method.expiry.month, method.expiry.year, now):
        raise conflict(f"The account owes ${usd:.2f} and its payment method has expired")
    payment_id = await queries.insert_payment(by.db, by.account_id, usd, now, method.id)
    await start_payment(by, payment_id)
    return payment_id


def conflict(reason: str) -> ApiError:
    """409: what is owed cannot be charged."""
    return ApiError(409, [Problem(reason)])


async def start_payment(by: Context | Starter, payment_id: int) -> None:
    args = PaymentArgs(payment_id=payment_id, account_id=by.account_id)
    await log.start(by, PAYMENT, args, ACCOUNT_KIND.entity())


async def owed_by(db: Queries, account_id: int) -> Decimal:
    """What no payment is on its way for, in US dollars."""
    return await accounts.balance(db, account_id) - await queries.pending(db, account_id)


def _check_expiry(expiry: datetime, now: datetime, field: str | None = None) -> None:
    if rules.has_expired(expiry.month, expiry.year, now):
        raise invalid("The payment method has expired", field)
