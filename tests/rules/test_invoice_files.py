"""Invoices as PDF, CSV and email: whatever texts they hold."""

import csv
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import datetime
from decimal import Decimal
from email import message_from_bytes
from email.policy import default
from io import BytesIO, StringIO
from pathlib import Path

import pypdf
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from roost.resources.billing import invoice_csv, invoice_pdf
from roost.resources.billing.document_queries import Customer, InvoiceFacts, ItemFacts
from roost.resources.billing.mail_jobs import compose
from roost.resources.billing.settings import Papers, PaperSettingsError
from roost.resources.support.engine import Mail
from roost.settings import Settings

PAPERS = Papers.of(Settings(invoice_issuer="Example Cloud; 1 Main Street ;; VAT 1"))
ITEM = ItemFacts(
    id=1,
    label="Volume - data (100001)",
    type="hourly",
    quantity=730,
    unit_price="0.00300",
    start=datetime(2030, 1, 1),
    end=datetime(2030, 2, 1),
    region="us-lake",
    amount=Decimal("2.00"),
    tax=Decimal("0.38"),
    total=Decimal("2.38"),
)
CUSTOMER = Customer(
    company="Ørsted & Søn",
    first_name="Ada",
    last_name="Lovelace",
    address_1="2 Side Street",
    address_2="",
    city="Berlin",
    state="BE",
    zip="10115",
    country="DE",
    tax_id="DE99",
)
INVOICE = InvoiceFacts(
    id=100_007,
    account_id=1,
    date=datetime(2030, 2, 1),
    starts=datetime(2030, 1, 1),
    ends=datetime(2030, 2, 1),
    subtotal=Decimal("1234.50"),
    total=Decimal("1469.06"),
    taxes=[{"name": "VAT", "tax": 234.56}],
    items=1,
    customer=CUSTOMER,
)


def rows(*items: ItemFacts) -> list[list[str]]:
    text = (invoice_csv.header() + invoice_csv.lines(items)).decode()
    return list(csv.reader(StringIO(text, newline="")))


def pages(*items: ItemFacts, invoice: InvoiceFacts = INVOICE) -> list[str]:
    content = invoice_pdf.render(PAPERS, invoice, items)
    return [page.extract_text() for page in pypdf.PdfReader(BytesIO(content)).pages]


def test_csv_has_the_fields_of_the_list() -> None:
    head, row = rows(ITEM)
    assert dict(zip(head, row, strict=True)) == {
        "label": "Volume - data (100001)",
        "type": "hourly",
        "quantity": "730",
        "unit_price": "0.00300",
        "from": "2030-01-01T00:00:00",
        "to": "2030-02-01T00:00:00",
        "region": "us-lake",
        "amount": "2.00",
        "tax": "0.38",
        "total": "2.38",
    }


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", *"\uff1d\uff0b\uff0d\uff20"]
)
def test_no_text_becomes_a_formula(start: str) -> None:
    label = f'{start}HYPERLINK("http://example.com","x")'
    _, row = rows(replace(ITEM, label=label, region=f"{start}x"))
    assert (row[0], row[6]) == (f"'{label}", f"'{start}x")


def test_a_negative_amount_is_a_number() -> None:
    _, row = rows(replace(ITEM, amount=Decimal("-5.00"), tax=Decimal("0.00")))
    assert row[7:9] == ["-5.00", "0.00"]


@pytest.mark.parametrize("label", ['a,"b"', "two\nlines", "名前 שם 👍", ""])
def test_csv_keeps_every_text(label: str) -> None:
    assert rows(replace(ITEM, label=label))[1][0] == label


def test_what_an_item_does_not_have_is_empty() -> None:
    bare = replace(ITEM, quantity=None, unit_price=None, start=None, end=None, region=None)
    assert rows(bare)[1][2:7] == [""] * 5
    assert "Volume - data (100001) 2.00 0.38" in pages(bare)[0]


def test_a_page() -> None:
    (page,) = pages(ITEM)
    for text in (
        "Invoice #100007",
        "Example Cloud",
        "VAT 1",
        "Ørsted & Søn",
        "Ada Lovelace",
        "10115 Berlin, BE",
        "Tax id: DE99",
        "Volume - data (100001)",
        "2030-01-01 00:00",
        "1,234.50",
        "234.56",
        "1,469.06",
        "Page 1 of 1",
    ):
        assert text in page
    assert page.count("Example Cloud\n1 Main Street\nVAT 1") == 1


def test_an_account_of_which_nothing_is_known() -> None:
    nobody = Customer(**dict.fromkeys((field.name for field in fields(Customer)), ""))
    (page,) = pages(ITEM, invoice=replace(INVOICE, customer=nobody))
    assert "Bill to" in pages(ITEM)[0]
    assert "Bill to" not in page


def test_the_same_invoice_is_the_same_file() -> None:
    first, second = (invoice_pdf.render(PAPERS, INVOICE, [ITEM]) for _ in range(2))
    assert first == second


def test_many_items_take_many_pages() -> None:
    found = pages(*(replace(ITEM, label=f"Volume - {n:05}") for n in range(200)))
    assert len(found) == 4
    assert all("Unit price" in page for page in found)
    assert all(f"Page {number} of 4" in page for number, page in enumerate(found, 1))
    assert sum(page.count("Volume - ") for page in found) == 200
    assert "Total (USD)" in found[-1]


@pytest.mark.parametrize(
    ("company", "shown"),
    [
        ("Żółć Ελλάς Компания", "Żółć Ελλάς Компания"),
        ("e\u0301te\u0301", "été"),
        ("evil\u202etxt\u200b\nline\x07", "eviltxt line"),
        ("名 \U0001f44d", "� �"),
        ("<b>&amp;</b> **x** {nb}\x1f", "<b>&amp;</b> **x** {nb}"),
    ],
)
def test_any_text_is_shown_or_replaced(company: str, shown: str) -> None:
    (page,) = pages(ITEM, invoice=replace(INVOICE, customer=replace(CUSTOMER, company=company)))
    assert shown in page


@pytest.mark.parametrize("label", ["W" * 300, "name_" * 40, "two words " * 30, "שלום " * 40])
def test_a_long_label_takes_several_lines(label: str) -> None:
    (page,) = pages(replace(ITEM, label=label))
    letters = [each for each in page if each in label and not each.isspace()]
    assert len(letters) >= len(label.replace(" ", ""))


def font_of(path: Path, character: str) -> Path:
    """A font with one square."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 700), (700, 700), (700, 0)):
        pen.lineTo(corner)
    pen.closePath()
    font, square = FontBuilder(1000), pen.glyph()
    font.setupGlyphOrder([".notdef", "square"])
    font.setupCharacterMap({ord(character): "square"})
    font.setupGlyf({".notdef": square, "square": square})
    font.setupHorizontalMetrics({".notdef": (800, 0), "square": (800, 0)})
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Square", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(path)
    return path


def test_a_font_of_the_operator_has_what_the_own_one_lacks(tmp_path: Path) -> None:
    papers = Papers.of(Settings(invoice_font=font_of(tmp_path / "square.ttf", "名")))
    item = replace(ITEM, label="Volume - 名前")
    content = invoice_pdf.render(papers, INVOICE, [item])
    assert "名�" in pypdf.PdfReader(BytesIO(content)).pages[0].extract_text()


@pytest.mark.parametrize("content", [None, b"", b"not a font", b"\0\1\0\0" + bytes(40)])
def test_a_file_that_is_no_font(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "font.ttf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PaperSettingsError, match="ROOST_INVOICE_FONT"):
        Papers.of(Settings(invoice_font=path))


def email(pdf: bytes | None, change: Callable[[Mail], Mail] = lambda mail: mail) -> str:
    mail = change(Mail("billing@cloud.example.com", None, "https://cloud.example.com"))
    sent = compose(mail, INVOICE, pdf, "ada@example.com")
    found = message_from_bytes(sent.as_bytes(), policy=default)
    assert (found["To"], found["Subject"]) == ("ada@example.com", "Invoice #100007: 1,469.06 USD")
    assert found["Message-ID"] == "<invoice-100007.20300201000000@cloud.example.com>"
    attached = [part.get_filename() for part in found.walk() if part.get_filename()]
    assert attached == ([] if pdf is None else ["invoice-100007.pdf"])
    text = found.get_body(("plain",))
    assert text is not None
    return str(text.get_content())


def test_an_email_has_the_pdf() -> None:
    text = email(b"%PDF-1.3")
    assert "attached" in text
    assert "https://cloud.example.com/v4/account/invoices/100007" in text


def test_an_email_of_an_invoice_that_is_too_long() -> None:
    assert "CSV" in email(None)
    assert "https:" not in email(None, lambda mail: replace(mail, url=None))
