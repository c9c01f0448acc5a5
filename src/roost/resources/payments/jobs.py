"""Payments by cards, carried out as a table of steps.

A payment is `pending` until the gateway has said yes, then `accepted`; else it is `declined`, and
what was charged is given back. Where the gateway does not even answer to that, it stays `pending`
until the operator has settled it. The gateway's key is the payment's: it charges once, however
often it is asked.
"""

from datetime import datetime

from roost.core.billing.queries import post
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, again, next_step, writing
from roost.resources.payments import queries
from roost.resources.payments.engine import DeclinedError, Gateway, Gateways, UndecidedError
from roost.resources.payments.queries import PaymentFacts
from roost.secrets import Box
from roost.store import Queries

UNDECIDED_SECONDS = 60.0
"""Until a gateway is asked again that has not decided; a message of its own may come before."""


class PaymentArgs(JobArgs):
    payment_id: int
    account_id: int


def resource_of(account_id: int) -> str:
    """The name under which the payments of an account are carried out one at a time."""
    return f"payments:{account_id}"


def _of_account(args: PaymentArgs) -> str:
    return resource_of(args.account_id)


def _gateway(run: Run[PaymentArgs]) -> Gateway:
    gateway = run.get(Gateways).gateway
    if gateway is None:
        raise Fatal("Cards are not accepted any more.")
    return gateway


async def charge(run: Run[PaymentArgs]) -> Verdict:
    """Let the gateway charge the card, and the account owe less."""
    payment, token = await _payment(run)
    try:
        await _gateway(run).charge(key_of(payment.id), token, payment.usd)
    except UndecidedError:
        return again(UNDECIDED_SECONDS)
    except DeclinedError as error:
        raise Fatal(str(error)) from error
    return next_step(writing(accept, payment, run.clock.seconds()))


async def _payment(run: Run[PaymentArgs]) -> tuple[PaymentFacts, str]:
    """With the gateway's token of its card."""
    payment = await queries.find_payment(run.store, run.args.payment_id)
    if payment is None or not payment.token:
        raise Fatal("The payment method is gone.")
    return payment, run.get(Box).open(payment.token).decode()


async def accept(db: Queries, payment: PaymentFacts, now: datetime) -> None:
    """The account owes less (UTC). Nothing happens to a payment that has ended already."""
    if await queries.end_payment(db, payment.id, "accepted"):
        await post(db, payment.account_id, "payment", payment.id, -payment.usd, now)


async def give_back(run: Run[PaymentArgs]) -> Verdict:
    payment, token = await _payment(run)
    await _gateway(run).cancel(key_of(payment.id), token)
    return next_step()


_KEY = "roost-payment-"


def key_of(payment_id: int) -> str:
    """By which the gateway knows a payment."""
    return f"{_KEY}{payment_id}"


def payment_of(key: str) -> int | None:
    """The payment that a key is of, if it is one."""
    number = key.removeprefix(_KEY)
    return int(number) if key.startswith(_KEY) and number.isdecimal() and len(number) < 19 else None


async def _decline(db: Queries, job: Job, args: PaymentArgs) -> None:
    """Unless nobody knows whether the card was charged: `roost fsck` names such payments."""
    if job.undo_error is None:
        await queries.end_payment(db, args.payment_id, "declined")


PAYMENT = JobKind(
    "payment",
    PaymentArgs,
    resource=_of_account,
    event="payment_submitted",
    steps=(Step("charge", charge, undo=give_back, timeout=60),),
    retry=Retry(attempts=8, base=2.0),
    on_failed=_decline,
)
