"""Letters to operators as jobs: one when a condition begins and one when it has ended.

Letters of one condition go out in their order. One that is not taken is tried again for two days.
"""

from email.message import EmailMessage

import orjson
import structlog

from roost.core.planes import Engines
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, next_step
from roost.resources.conditions import queries
from roost.resources.conditions.engine import WEBHOOK_PLANE, Channel, Letters
from roost.resources.conditions.queries import ConditionFacts
from roost.resources.support.engine import MAIL_PLANE, Mail, MailRefusedError, SupportRules
from roost.resources.support.mail_service import automatic
from roost.store import Queries

_log = structlog.get_logger(__name__)


class LetterArgs(JobArgs):
    condition_id: int
    ended: bool
    """Whether it tells of the end."""
    channel: Channel


def delivery_of(args: LetterArgs) -> str:
    """By which a receiver knows a letter that comes twice."""
    return f"condition-{args.condition_id}-{'ended' if args.ended else 'began'}"


def message_of(row: ConditionFacts, args: LetterArgs) -> bytes:
    """The body of a webhook's message; times are UTC."""
    ended = row.ended if args.ended else None
    return orjson.dumps(
        {
            "id": delivery_of(args),
            "event": "ended" if args.ended else "began",
            "kind": row.kind,
            "subject": row.subject,
            "severity": row.severity,
            "text": row.text,
            "began": row.began,
            "ended": ended,
        }
    )


def email_of(row: ConditionFacts, args: LetterArgs, mail: Mail, address: str) -> EmailMessage:
    """The email of a condition, the same for each attempt; the end answers the beginning, so that
    they are one thread."""
    state = "ended" if args.ended else row.severity
    subject = "".join(each if each.isprintable() else " " for each in row.subject)
    when = (row.ended if args.ended else None) or row.began
    thread = _name(row, delivery_of(args.model_copy(update={"ended": False})))
    lines = [row.text, "", f"Since {row.began:%Y-%m-%d %H:%M} UTC."]
    if args.ended:
        lines = [f"This has ended at {when:%Y-%m-%d %H:%M} UTC:", "", *lines]
    return automatic(
        mail,
        address,
        f"[Roost] {state}: {row.kind} {subject}",
        when,
        _name(row, delivery_of(args)),
        "\n".join((*lines, "")),
        thread if args.ended else None,
    )


def _name(row: ConditionFacts, name: str) -> str:
    return f"{name}.{row.began:%Y%m%d%H%M%S}"


async def _send(run: Run[LetterArgs]) -> Verdict:
    """A letter that was taken before a crash goes out again, with the same id."""
    row = await queries.find(run.store, run.args.condition_id)
    if row is None or run.args.channel not in run.get(Letters).channels:
        return next_step()
    if run.args.channel == "webhook":
        webhook = run.get(Engines).of(WEBHOOK_PLANE)
        await webhook.post(delivery_of(run.args), message_of(row, run.args))
    else:
        await _send_email(run, row)
    return next_step()


async def _send_email(run: Run[LetterArgs], row: ConditionFacts) -> None:
    mail, address = run.get(SupportRules).mail, run.get(Letters).address
    if mail is None or address is None:
        return
    async with mail.lines:
        try:
            email = email_of(row, run.args, mail, address)
            await run.get(Engines).of(MAIL_PLANE).send(email)
        except MailRefusedError as error:
            raise Fatal(str(error)) from error


async def _on_failed(db: Queries, job: Job, args: LetterArgs) -> None:
    _log.error(
        "operator_letter_failed",
        condition=args.condition_id,
        channel=args.channel,
        error=job.error,
    )


LETTER = JobKind(
    "operator_letter",
    LetterArgs,
    steps=(Step("send", _send),),
    resource=lambda args: f"condition:{args.condition_id}:{args.channel}",
    retry=Retry(attempts=60, base=5.0, longest=3600.0),
    on_failed=_on_failed,
)
