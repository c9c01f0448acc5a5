"""What the API offers: invoices and their items (spec B account)."""

from roost.core.billing.queries import since, standing
from roost.resources.billing.document_service import csv_of, pdf_of
from roost.resources.billing.estimate_rules import estimate
from roost.resources.billing.queries import INVOICES, ITEMS
from roost.resources.billing.records import EstimateRow, InvoiceItemRow, InvoiceRow
from roost.resources.billing.service import nouns
from roost.resources.billing.settings import Papers
from roost.threads import COMPUTING
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import Binary, Page, Rate, endpoint
from roost.web.reply import Reply

_READ = ("account:read_only",)
_MAY_READ = AccountAccess("read_only")
_ALL = "/account/invoices"
_ONE = f"{_ALL}/{{invoiceId:int}}"
_FILE_RATE = Rate(30, 60)


@endpoint("GET", _ALL, scopes=_READ, grant=_MAY_READ, returns=Page(InvoiceRow))
async def list_invoices(call: Call) -> bytes:
    """List invoices.

    One for each month in which the account used something.
    """
    return await call.collection(INVOICES, call.account_id)


@endpoint("GET", _ONE, scopes=_READ, grant=_MAY_READ, returns=InvoiceRow)
async def view_invoice(call: Call) -> bytes:
    """View an invoice.

    What it consists of are its items.
    """
    return await call.record(call.number("invoiceId"), INVOICES, call.account_id)


@endpoint("GET", f"{_ONE}/items", scopes=_READ, grant=_MAY_READ, returns=Page(InvoiceItemRow))
async def list_invoice_items(call: Call) -> bytes:
    """List the items of an invoice.

    One for each thing, and one more each time that its plan, size or price changed.
    """
    invoice_id = call.number("invoiceId")
    await call.record(invoice_id, INVOICES, call.account_id)
    return await call.collection(ITEMS, call.account_id, invoice_id)


@endpoint(
    "GET",
    f"{_ONE}/pdf",
    scopes=_READ,
    grant=_MAY_READ,
    returns=Binary("application/pdf"),
    rate=_FILE_RATE,
)
async def view_invoice_pdf(call: Call) -> Reply:
    """View an invoice as PDF.

    For people; one of more than 10,000 items is refused. An extension of the API.
    """
    invoice_id = call.number("invoiceId")
    content = await pdf_of(call.db, call.get(Papers), call.account_id, invoice_id)
    return _file(content, b"application/pdf", f"invoice-{invoice_id}.pdf")


@endpoint(
    "GET",
    f"{_ONE}/csv",
    scopes=_READ,
    grant=_MAY_READ,
    returns=Binary("text/csv; charset=utf-8"),
    rate=_FILE_RATE,
)
async def view_invoice_csv(call: Call) -> Reply:
    """View the items of an invoice as CSV.

    For books, in UTF-8, with the names of the list's fields in the first line; one of more than
    100,000 items is refused. Texts that a spreadsheet could take for a formula begin with `'`.
    An extension of the API.
    """
    invoice_id = call.number("invoiceId")
    content = await csv_of(call.db, call.get(Papers), call.account_id, invoice_id)
    return _file(content, b"text/csv; charset=utf-8", f"invoice-{invoice_id}.csv")


def _file(content: bytes, media_type: bytes, name: str) -> Reply:
    disposition = f'attachment; filename="{name}"'.encode()
    return Reply(200, content, ((b"content-disposition", disposition),), media_type)


@endpoint("GET", "/account/estimate", scopes=_READ, grant=_MAY_READ, returns=EstimateRow)
async def view_estimate(call: Call) -> EstimateRow:
    """View what the account costs this month.

    So far, and at its end if nothing changes; by service and by tag, without taxes. An extension
    of the API.
    """
    now = call.clock.now()
    start = (await standing(call.db, call.account_id)).invoiced_until
    rows = await since(call.db, call.account_id, start, now)
    return await COMPUTING.run(estimate, rows, now, nouns(call.services))
