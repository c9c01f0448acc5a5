"""An invoice as PDF: A4, the items in a table, the sums below."""

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from fpdf import FPDF
from fpdf.enums import MethodReturnValue
from fpdf.fonts import TTFFont

from roost.resources.billing.document_queries import Customer, InvoiceFacts, ItemFacts
from roost.resources.billing.settings import Papers

_FONTS = Path(__file__).with_name("fonts")
_REGULAR = _FONTS / "DejaVuSansCondensed.ttf"
"""Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew and Arabic."""
_BOLD = _FONTS / "DejaVuSansCondensed-Bold.ttf"
_SUBSTITUTE = "\N{REPLACEMENT CHARACTER}"
_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp"})
_MARGIN, _BOTTOM = 15.0, 18.0
"""Millimetres; so are all lengths here."""
_LINE, _SMALL_LINE = 5.0, 3.6
_TEXT, _SMALL, _TITLE = 9.0, 7.0, 18.0
"""Points."""
_COLUMNS = (
    ("Item", 60.0),
    ("Region", 18.0),
    ("From (UTC)", 22.0),
    ("To (UTC)", 22.0),
    ("Hours", 10.0),
    ("Unit price", 18.0),
    ("Amount", 16.0),
    ("Tax", 14.0),
)
_TEXTS = 4
"""Columns, from the left, that hold no numbers."""
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN", "NSM"})
_DENSITIES = (1.9, 1.6, 1.3)
"""Letters of usual, wide and capital text in as much room as the font is high."""
_FONT, _MORE = "own", "more"
_PAGES = "\x1f000"
"""Stands for the number of pages, and is as wide; no text of a customer can have it."""


def render(papers: Papers, invoice: InvoiceFacts, items: Iterable[ItemFacts]) -> bytes:
    """An invoice as a PDF: always the same bytes. 10,000 items take a processor some seconds."""
    page = _Page(papers, invoice)
    page.add_page()
    page.head()
    page.columns()
    for item in items:
        page.item(item)
    page.sums()
    return bytes(page.output())


class _Page(FPDF):
    def __init__(self, papers: Papers, invoice: InvoiceFacts) -> None:
        super().__init__(format="A4")
        self._issuer, self._invoice = papers.issuer, invoice
        self.set_margins(_MARGIN, _MARGIN)
        self.set_auto_page_break(False)
        self.alias_nb_pages(_PAGES)
        self.set_title(f"Invoice #{invoice.id}")
        self.set_lang("en")
        self.set_creation_date(invoice.date.replace(tzinfo=UTC))
        self.add_font(_FONT, "", _REGULAR)
        self.add_font(_FONT, "B", _BOLD)
        if papers.font is not None:
            self.add_font(_MORE, "", papers.font)
            self.set_fallback_fonts([_MORE], exact_match=False)
        regular = (self.fonts.get(_FONT), self.fonts.get(_MORE))
        self._characters = {
            each for font in regular if isinstance(font, TTFFont) for each in font.cmap
        }

    def footer(self) -> None:
        """What stands at the foot of each page."""
        self.set_y(-_BOTTOM + 6)
        self.set_font(_FONT, size=_SMALL)
        self.cell(0, _LINE, f"Invoice #{self._invoice.id}")
        self.set_x(_MARGIN)
        self.cell(0, _LINE, f"Page {self.page_no()} of {_PAGES}", align="R")

    def head(self) -> None:
        """Who charges whom, for when."""
        top = self.get_y()
        self.set_font(_FONT, "B", _TITLE)
        self.cell(0, 10, f"Invoice #{self._invoice.id}", new_x="LMARGIN", new_y="NEXT")
        self.set_font(_FONT, size=_TEXT)
        for line in _dates(self._invoice):
            self.cell(0, _LINE, line, new_x="LMARGIN", new_y="NEXT")
        left = self.get_y()
        self.set_y(top + 2)
        for line in self._issuer:
            self._lines(line, 90, _LINE, x=self.w - _MARGIN - 90, align="R")
        self.set_y(max(left, self.get_y()) + 4)
        if address := list(_address(self._invoice.customer)):
            self.set_font(_FONT, "B", _TEXT)
            self.cell(0, _LINE, "Bill to", new_x="LMARGIN", new_y="NEXT")
            self.set_font(_FONT, size=_TEXT)
            for line in address:
                self._lines(line, 110, _LINE)
            self.ln(4)

    def columns(self) -> None:
        """The head of the table, on each page."""
        self.set_font(_FONT, "B", _SMALL)
        for index, (name, width) in enumerate(_COLUMNS):
            self.cell(width, _LINE, name, border="B", align=_align(index))
        self.ln(_LINE + 1)
        self.set_font(_FONT, size=_SMALL)

    def item(self, item: ItemFacts) -> None:
        """A label that is too long takes several lines."""
        label, *cells = _cells(item)
        width = _COLUMNS[0][1]
        lines = self._wrap(label, width - 2)
        if self.get_y() + len(lines) * _SMALL_LINE > self.h - _BOTTOM:
            self.add_page()
            self.columns()
        self._write(width, _SMALL_LINE, lines[0])
        for index, text in enumerate(cells, 1):
            self._write(_COLUMNS[index][1], _SMALL_LINE, text, _align(index))
        for line in lines[1:]:
            self.ln(_SMALL_LINE)
            self._write(width, _SMALL_LINE, line)
        self.ln(_SMALL_LINE + 0.4)

    def sums(self) -> None:
        """At the end, all on one page."""
        rows = list(_sums(self._invoice))
        if self.get_y() + (len(rows) + 1) * _LINE > self.h - _BOTTOM:
            self.add_page()
        self.ln(2)
        for index, (name, amount) in enumerate(rows):
            last = index == len(rows) - 1
            self.set_font(_FONT, "B" if last else "", _TEXT)
            self.set_x(self.w - _MARGIN - 80)
            # The names of taxes are the operator's, in any script that the regular font has.
            self._write(50, _LINE, name, border="T" if last else "")
            self._write(30, _LINE, f"{amount:,.2f}", "R", border="T" if last else "")
            self.ln(_LINE)

    def _lines(
        self, text: str, width: float, height: float, *, x: float = _MARGIN, align: str = "L"
    ) -> None:
        for line in self._wrap(text, width):
            self.set_x(x)
            self._write(width, height, line, align)
            self.ln(height)

    def _wrap(self, text: str, width: float) -> Sequence[str]:
        """The library's own way is exact, and slow; most texts do without it."""
        plain = self._printable(text)
        self._shape(plain)
        for density in _DENSITIES:
            letters = int(width / self.font_size * density)
            guessed = textwrap.wrap(plain, letters, break_on_hyphens=False) or [""]
            if all(self.get_string_width(line) <= width for line in guessed):
                return guessed
        lines = self.multi_cell(
            width, _LINE, plain, dry_run=True, output=MethodReturnValue.LINES, align="L"
        )
        assert isinstance(lines, list)
        return lines

    def _write(
        self, width: float, height: float, text: str, align: str = "L", border: str = ""
    ) -> None:
        plain = self._printable(text)
        self._shape(plain)
        self.cell(width, height, plain, align=align, border=border or 0)

    def _printable(self, text: str) -> str:
        """In one line, with a sign in place of each character that no font has.

        What steers the direction of text is left out, as it could make a line say something else.
        """
        if text.isascii() and text.isprintable():
            return text
        return "".join(map(self._sign, unicodedata.normalize("NFC", text)))

    def _sign(self, character: str) -> str:
        if unicodedata.category(character) in _INVISIBLE:
            return " " if character.isspace() else ""
        return character if ord(character) in self._characters else _SUBSTITUTE

    def _shape(self, text: str) -> None:
        """Only what needs it: joined letters and text from right to left; it takes its time."""
        needed = not text.isascii() and any(
            unicodedata.bidirectional(each) in _RIGHT_TO_LEFT for each in text
        )
        if needed != bool(self.text_shaping):
            self.set_text_shaping(needed)


def _align(column: int) -> str:
    return "L" if column < _TEXTS else "R"


def _dates(invoice: InvoiceFacts) -> Iterator[str]:
    yield f"Date: {invoice.date:%Y-%m-%d}"
    yield f"For: {_time(invoice.starts)} to {_time(invoice.ends)} UTC"
    yield "All amounts are in US dollars."


def _address(customer: Customer) -> Iterator[str]:
    town = " ".join(filter(None, (customer.zip, customer.city)))
    lines = (
        customer.company,
        " ".join(filter(None, (customer.first_name, customer.last_name))),
        customer.address_1,
        customer.address_2,
        ", ".join(filter(None, (town, customer.state))),
        customer.country,
        f"Tax id: {customer.tax_id}" if customer.tax_id else "",
    )
    return (line for line in lines if line)


def _cells(item: ItemFacts) -> Iterator[str]:
    yield item.label
    yield item.region or ""
    yield _time(item.start)
    yield _time(item.end)
    yield "" if item.quantity is None else str(item.quantity)
    yield item.unit_price or ""
    yield f"{item.amount:,.2f}"
    yield f"{item.tax:,.2f}"


def _time(time: datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d %H:%M}"


def _sums(invoice: InvoiceFacts) -> Iterator[tuple[str, Decimal]]:
    yield "Subtotal", invoice.subtotal
    for tax in invoice.taxes:
        yield tax["name"], Decimal(str(tax["tax"]))
    yield "Total (USD)", invoice.total
