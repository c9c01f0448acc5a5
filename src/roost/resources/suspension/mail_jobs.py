"""Letters to accounts that are going to be suspended, are, or go on."""

from email.message import EmailMessage
from functools import partial
from typing import Literal

from roost.core import account_queries as accounts
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict
from roost.resources.support.engine import Mail
from roost.resources.support.mail_service import PATIENCE, automatic, send
from roost.resources.suspension.settings import WARNED_BEFORE

Occasion = Literal["warned", "suspended", "resumed"]

_SUBJECTS: dict[Occasion, str] = {
    "warned": "Your services are going to be suspended",
    "suspended": "Your services are suspended",
    "resumed": "Your services go on",
}
_TEXTS: dict[Occasion, str] = {
    "warned": f"A payment is past due. Unless it is made, what runs is shut down in"
    f" {WARNED_BEFORE.days} days.",
    "suspended": "As a payment is past due, instances and databases are shut down, and nothing new"
    " can be made. All data are kept. Everything goes on as soon as the payment is made.",
    "resumed": "The payment has arrived. What ran before is started again.",
}


class LetterArgs(JobArgs):
    account_id: int
    occasion: Occasion


async def _send(run: Run[LetterArgs]) -> Verdict:
    """One that was sent before a crash goes out again, under the same Message-ID."""
    return await send(run, partial(_compose, run))


async def _compose(run: Run[LetterArgs], mail: Mail) -> EmailMessage | None:
    """None when the account has paid meanwhile, or has no address."""
    account_id, occasion = run.args.account_id, run.args.occasion
    address = await accounts.find_email(run.store, account_id)
    owes = await accounts.balance(run.store, account_id) > 0
    if address is None or (occasion != "resumed" and not owes):
        return None
    text = [_TEXTS[occasion], *([f"{mail.url}/v4/account/payments"] if mail.url else [])]
    name = f"{occasion}-{account_id}-{run.job.id}"
    body = "\n\n".join(text) + "\n"
    return automatic(mail, address, _SUBJECTS[occasion], run.job.created, name, body)


SEND = JobKind(
    "suspension_mail",
    LetterArgs,
    steps=(Step("send", _send, timeout=120),),
    retry=PATIENCE,
)
