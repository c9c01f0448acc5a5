"""New invoices by email, as jobs: whoever makes invoices never waits for a mail server."""

from email.message import EmailMessage
from functools import partial

import structlog

from roost.core import account_queries as accounts
from roost.jobs.kinds import JobArgs, JobKind, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Verdict
from roost.resources.billing import document_queries
from roost.resources.billing.document_queries import InvoiceFacts
from roost.resources.billing.document_service import MOST_IN_PDF, pdf_of
from roost.resources.billing.settings import Papers
from roost.resources.support.engine import Mail, SupportRules
from roost.resources.support.mail_service import PATIENCE, automatic, send
from roost.services import Services
from roost.store import Queries

_log = structlog.get_logger(__name__)


class InvoiceMailArgs(JobArgs):
    account_id: int
    invoice_id: int


async def _send(run: Run[InvoiceMailArgs]) -> Verdict:
    """One that was sent before a crash goes out again, under the same Message-ID."""
    return await send(run, partial(_compose, run))


async def _compose(run: Run[InvoiceMailArgs], mail: Mail) -> EmailMessage | None:
    account_id, invoice_id = run.args.account_id, run.args.invoice_id
    invoice = await document_queries.find_invoice(run.store, account_id, invoice_id)
    address = await accounts.find_email(run.store, account_id)
    if invoice is None or address is None:
        return None
    pdf = None
    if invoice.items <= MOST_IN_PDF:
        pdf = await pdf_of(run.store, run.get(Papers), account_id, invoice_id)
    return compose(mail, invoice, pdf, address)


def compose(mail: Mail, invoice: InvoiceFacts, pdf: bytes | None, address: str) -> EmailMessage:
    """The email of an invoice, the same for each attempt.

    ValueError or an error of `email` for a bad address.
    """
    subject = f"Invoice #{invoice.id}: {invoice.total:,.2f} USD"
    name = f"invoice-{invoice.id}.{invoice.date:%Y%m%d%H%M%S}"
    text = _text(mail, invoice, attached=pdf is not None)
    email = automatic(mail, address, subject, invoice.date, name, text)
    if pdf is not None:
        name = f"invoice-{invoice.id}.pdf"
        email.add_attachment(pdf, maintype="application", subtype="pdf", filename=name)
    return email


def _text(mail: Mail, invoice: InvoiceFacts, *, attached: bool) -> str:
    lines = [
        f"Invoice #{invoice.id} is about {invoice.starts:%Y-%m-%d %H:%M} to"
        f" {invoice.ends:%Y-%m-%d %H:%M} UTC.",
        f"Its total is {invoice.total:,.2f} USD.",
        "It is attached." if attached else "It is too long for a PDF; its items are in its CSV.",
    ]
    if mail.url:
        lines.append(f"{mail.url}/v4/account/invoices/{invoice.id}")
    return "\n\n".join(lines) + "\n"


async def _on_failed(db: Queries, job: Job, args: InvoiceMailArgs) -> None:
    _log.error("invoice_mail_failed", invoice=args.invoice_id, error=job.error)


SEND = JobKind(
    "invoice_mail",
    InvoiceMailArgs,
    steps=(Step("send", _send, timeout=120),),
    retry=PATIENCE,
    on_failed=_on_failed,
)


async def write(db: Queries, services: Services, account_id: int, invoice_id: int) -> None:
    """Have a new invoice sent to its account, if a mail server is set."""
    if services.get(SupportRules).mail is not None:
        args = InvoiceMailArgs(account_id=account_id, invoice_id=invoice_id)
        await services.get(JobQueue).enqueue(db, SEND, args, account_id=account_id)
