"""Invoices as PDF and CSV over HTTP, and by email."""

import csv
from io import BytesIO, StringIO
from pathlib import Path

import pypdf
import pytest

from roost.app.roost import Roost
from roost.resources.billing import document_service
from roost.resources.billing.mail_jobs import SEND
from tests.api.conftest import Account
from tests.support.client import Client, until
from tests.support.invoices import INVOICES, invoiced
from tests.support.mail import SENDER, mail_server
from tests.support.server import running_roost, simulated

MORE = """
insert into invoice_item (invoice_id, service, resource_id, label, plan, region, tags, "from", "to",
    quantity, unit_price, amount, tax)
select invoice_id, service, n, 'Volume - ' || n, plan, region, tags, "from", "to", quantity,
    unit_price, amount, tax
from invoice_item, generate_series(1, $2) n where invoice_id = $1
"""


async def test_files(client: Client, stranger: Client, roost: Roost, account: Account) -> None:
    await client.put("/account", {"company": "Żółć & Søn"})
    path = f"{INVOICES}/{await invoiced(roost, account.id)}"
    await client.put("/account", {"company": "moved since", "zip": "12345"})
    found = await client.send("GET", f"{path}/csv")
    assert found.status == 200
    assert found.headers["Content-Type"] == "text/csv; charset=utf-8"
    name = f'attachment; filename="invoice-{path.rpartition("/")[2]}.csv"'
    assert found.headers["Content-Disposition"] == name
    (row,) = csv.DictReader(StringIO(found.raw.decode(), newline=""))
    (item,) = (await client.get(f"{path}/items"))["data"]
    assert (row["label"], row["unit_price"]) == (item["label"], item["unit_price"])
    assert float(row["total"]) == item["total"]
    found = await client.send("GET", f"{path}/pdf")
    assert (found.status, found.headers["Content-Type"]) == (200, "application/pdf")
    assert found.headers["Content-Disposition"] == name.replace(".csv", ".pdf")
    text = pypdf.PdfReader(BytesIO(found.raw)).pages[0].extract_text()
    assert "Żółć & Søn" in text
    assert "moved since" not in text
    assert "12345" not in text
    assert item["label"] in text
    for kind in ("csv", "pdf"):
        assert (await stranger.send("GET", f"{path}/{kind}")).status == 404
        assert (await client.send("GET", f"{INVOICES}/999999999/{kind}")).status == 404


async def test_a_long_invoice(
    client: Client, roost: Roost, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several pieces, each item once; what is too long says where else to look."""
    invoice_id = await invoiced(roost, account.id)
    path = f"{INVOICES}/{invoice_id}"
    await roost.store.execute(MORE, invoice_id, 6_000)
    found = await client.send("GET", f"{path}/csv")
    rows = list(csv.DictReader(StringIO(found.raw.decode(), newline="")))
    assert len({row["label"] for row in rows}) == len(rows) == 6_001
    for name, kind, text in (
        ("MOST_IN_PDF", "pdf", "The invoice has 6001 items, and a PDF has up to 6000; see its CSV"),
        ("MOST_IN_CSV", "csv", "The invoice has 6001 items, and a CSV has up to 6000; list its"),
    ):
        monkeypatch.setattr(document_service, name, 6_000)
        refused = await client.send("GET", f"{path}/{kind}")
        assert refused.status == 400
        assert refused.problems[0][1].startswith(text)


async def test_an_invoice_is_mailed(tmp_path: Path, database_url: str) -> None:
    async with mail_server() as mails:
        url = f"smtp://127.0.0.1:{mails.port}"
        settings = simulated(tmp_path, database_url, smtp_url=url, mail_from=SENDER)
        async with running_roost(settings) as running:
            store = running.roost.store
            account_id = await store.fetchval(
                "update account set email = 'ada@example.com' returning id"
            )
            invoice_id = await invoiced(running.roost, account_id)

            async def sent() -> int:
                return len(mails.to("ada@example.com"))

            await until(sent, lambda count: count == 1)
    (email,) = mails.emails
    assert email["Subject"] == f"Invoice #{invoice_id}: 0.07 USD"
    (attached,) = email.iter_attachments()
    assert attached.get_content_type() == "application/pdf"
    assert len(pypdf.PdfReader(BytesIO(attached.get_content())).pages) == 1


async def test_nobody_is_written_to_without_a_mail_server(roost: Roost, account: Account) -> None:
    await invoiced(roost, account.id)
    sql = "select count(*) from job where kind = $1 and account_id = $2"
    assert await roost.store.fetchval(sql, SEND.name, account.id) == 0
