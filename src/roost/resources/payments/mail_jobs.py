"""Letters to accounts whose cards were declined."""

from datetime import datetime
from decimal import Decimal
from email.message import EmailMessage
from functools import partial

from roost.core import account_queries as accounts
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict
from roost.resources.support.engine import Mail
from roost.resources.support.mail_service import PATIENCE, automatic, send


class DeclinedArgs(JobArgs):
    account_id: int
    invoice_id: int
    tries: int
    owed: Decimal
    """US dollars."""
    again: datetime | None
    """When the card is charged again (UTC)."""


async def _send(run: Run[DeclinedArgs]) -> Verdict:
    """One that was sent before a crash goes out again, under the same Message-ID."""
    return await send(run, partial(_compose, run))


async def _compose(run: Run[DeclinedArgs], mail: Mail) -> EmailMessage | None:
    """None when the account has paid meanwhile, or has no address."""
    address = await accounts.find_email(run.store, run.args.account_id)
    if address is None or await accounts.balance(run.store, run.args.account_id) <= 0:
        return None
    return compose(mail, run.args, address, run.job.created)


def compose(mail: Mail, args: DeclinedArgs, address: str, written: datetime) -> EmailMessage:
    """The email of a payment, the same for each attempt.

    ValueError or an error of `email` for a bad address.
    """
    subject = f"Your payment of {args.owed:,.2f} USD was declined"
    name = f"declined-{args.account_id}-{args.invoice_id}-{args.tries}"
    text = "\n\n".join(_text(mail, args)) + "\n"
    return automatic(mail, address, subject, written, name, text)


def _text(mail: Mail, args: DeclinedArgs) -> list[str]:
    then = (
        "It will not be charged again by itself: please make a payment."
        if args.again is None
        else f"It is charged again on {args.again:%Y-%m-%d %H:%M} UTC, unless you pay before."
    )
    text = [f"Your account owes {args.owed:,.2f} USD, and its default card was declined.", then]
    return [*text, f"{mail.url}/v4/account/payments"] if mail.url else text


SEND = JobKind(
    "declined_mail",
    DeclinedArgs,
    steps=(Step("send", _send, timeout=120),),
    retry=PATIENCE,
)
