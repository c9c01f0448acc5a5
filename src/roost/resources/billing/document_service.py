"""Invoices as files: loaded and rendered within bounds, off the event loop."""

from roost.errors import invalid, not_found
from roost.resources.billing import document_queries, invoice_csv
from roost.resources.billing.document_queries import InvoiceFacts, ItemFacts
from roost.resources.billing.settings import Papers
from roost.store import Queries
from roost.threads import PAPERS

MOST_IN_PDF = 10_000
"""Items: 170 pages, and three seconds of a processor, or more where labels are long."""
MOST_IN_CSV = 100_000
_CHUNK = 5_000
"""Items that are in memory at one time for CSV."""


async def pdf_of(db: Queries, papers: Papers, account_id: int, invoice_id: int) -> bytes:
    """Raises 404, and 400 for an invoice of too many items."""
    invoice = await _find(db, account_id, invoice_id)
    if invoice.items > MOST_IN_PDF:
        raise invalid(
            f"The invoice has {invoice.items} items, and a PDF has up to {MOST_IN_PDF}; see its CSV"
        )
    async with papers.room.hold():
        items = await document_queries.items_after(db, invoice, 0, MOST_IN_PDF)
        return await PAPERS.run(_render, papers, invoice, items)


def _render(papers: Papers, invoice: InvoiceFacts, items: list[ItemFacts]) -> bytes:
    # The library takes half a second to load, which most processes never need.
    from roost.resources.billing import invoice_pdf

    return invoice_pdf.render(papers, invoice, items)


async def csv_of(db: Queries, papers: Papers, account_id: int, invoice_id: int) -> bytes:
    """Raises 404, and 400 for an invoice of too many items."""
    invoice = await _find(db, account_id, invoice_id)
    if invoice.items > MOST_IN_CSV:
        raise invalid(
            f"The invoice has {invoice.items} items, and a CSV has up to {MOST_IN_CSV};"
            " list its items"
        )
    async with papers.room.hold():
        chunks, after = [invoice_csv.header()], 0
        while items := await document_queries.items_after(db, invoice, after, _CHUNK):
            chunks.append(await PAPERS.run(invoice_csv.lines, items))
            after = items[-1].id
        return b"".join(chunks)


async def _find(db: Queries, account_id: int, invoice_id: int) -> InvoiceFacts:
    invoice = await document_queries.find_invoice(db, account_id, invoice_id)
    if invoice is None:
        raise not_found()
    return invoice
