"""Events and letters about instances that exceed their alerts: when that begins."""

from datetime import datetime
from email.message import EmailMessage
from functools import partial

from roost.core import account_queries as accounts
from roost.core.events import log
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.schedules import Schedule
from roost.jobs.verdicts import Verdict, next_step
from roost.resources.compute.entity import COMPUTE
from roost.resources.support.engine import Mail, SupportRules
from roost.resources.support.mail_service import PATIENCE, automatic, send
from roost.resources.usage import alert_queries
from roost.resources.usage.alert_service import find_alerts

_PAGE = 100
_MOST_LINES = 50
"""Of one letter; the notifications of the account have all."""


class AlertMailArgs(JobArgs):
    account_id: int
    lines: tuple[str, ...]
    more: int
    """Alerts beside them."""
    noticed: datetime


async def look(run: Run[JobArgs]) -> Verdict:
    """Look at all accounts that have instances."""
    after = 0
    while found := await alert_queries.accounts_after(run.store, after, _PAGE):
        for account_id in found:
            await _look_at(run, account_id)
        after = found[-1]
    return next_step()


async def _look_at(run: Run[JobArgs], account_id: int) -> None:
    now = run.clock.seconds()
    found = {each.key: each for each in await find_alerts(run.store, account_id, None, now)}
    async with run.store.transaction() as db:
        new = await alert_queries.begin(db, account_id, found, now)
        begun = [each for key, each in found.items() if key in new]
        by = log.Starter(run.get(JobQueue), db, account_id)
        for each in begun:
            entity = COMPUTE.entity(each.instance.id, each.instance.label)
            await log.notify(by, "compute_alert", entity, message=each.text)
        lines = [each.text for each in begun]
        if not lines or run.get(SupportRules).mail is None:
            return
        args = AlertMailArgs(
            account_id=account_id,
            lines=tuple(lines[:_MOST_LINES]),
            more=max(0, len(lines) - _MOST_LINES),
            noticed=now,
        )
        await run.get(JobQueue).enqueue(db, SEND, args, account_id=account_id)


async def _send(run: Run[AlertMailArgs]) -> Verdict:
    """One that was sent before a crash goes out again, under the same Message-ID."""
    return await send(run, partial(_compose, run))


async def _compose(run: Run[AlertMailArgs], mail: Mail) -> EmailMessage | None:
    args = run.args
    address = await accounts.find_email(run.store, args.account_id)
    if address is None:
        return None
    rest = [f"And {args.more} more."] if args.more else []
    link = [f"{mail.url}/v4/account/notifications"] if mail.url else []
    name = f"alerts-{args.account_id}.{args.noticed:%Y%m%d%H%M%S}"
    text = "\n\n".join((*args.lines, *rest, *link)) + "\n"
    return automatic(mail, address, _SUBJECT, args.noticed, name, text)


_SUBJECT = "Instances exceed their alerts"

SEND = JobKind(
    "alert_mail",
    AlertMailArgs,
    steps=(Step("send", _send, timeout=120),),
    retry=PATIENCE,
)
WATCH = JobKind("alert_watch", JobArgs, steps=(Step("look", look, timeout=600),))
EVERY_TEN_MINUTES = Schedule("alert_watch", "4-59/10 * * * *", WATCH, JobArgs())
"""After a reading of the counters."""
