"""Records of invoices (reference: Invoice, Invoice item)."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from roost.core.formats import Id, Timestamp


class TaxSummary(TypedDict):
    """One tax of an invoice."""

    name: str
    """What it is called."""
    tax: float
    """US dollars."""


class InvoiceRow(TypedDict):
    """What an account owes for a month; amounts in US dollars."""

    id: Id
    date: Timestamp
    """When the month ended that it is about (UTC)."""
    label: str
    """What to call it."""
    subtotal: float
    """Without taxes."""
    tax: float
    """All taxes."""
    total: float
    """With taxes."""
    tax_summary: list[TaxSummary]
    """Each tax."""
    billing_source: Literal["platform", "external"]
    """Who collects it: this cloud, or the parent of a child account."""


_From = Annotated[Timestamp, Field(description="From when on it is charged for here (UTC).")]
_To = Annotated[Timestamp, Field(description="Until when (UTC).")]
_Times = TypedDict("_Times", {"from": _From, "to": _To})
"""`from` is a word of Python."""


class InvoiceItemRow(_Times):
    """One thing for which an account is charged; amounts in US dollars."""

    label: str
    """What it is, with its plan, its name and its id."""
    type: Literal["hourly", "misc"]
    """Whether it costs by the hour; `misc` is what a promotion pays."""
    quantity: int | None
    """Hours, each of which counts when it was begun; null for `misc`."""
    unit_price: str | None
    """Of an hour, exact; null for `misc`."""
    region: str | None
    """Where it is; null for `misc`."""
    amount: float
    """Without taxes, at most what a month costs; less than 0 for what a promotion pays."""
    tax: float
    """All taxes."""
    total: float
    """With taxes."""


class _Estimated(TypedDict):
    """Amounts in US dollars, without taxes."""

    so_far: float
    """What was used since the month began."""
    at_end: float
    """What the whole month comes to, if nothing changes."""


class ServiceEstimate(_Estimated):
    """One kind of thing that the account is charged for."""

    service: str
    """Its word, as promotions and the ledger have it."""
    label: str
    """What the items of invoices are called by."""


class TagEstimate(_Estimated):
    """All that has a tag, as it had when its price began; what has several counts for each."""

    tag: str
    """The label of the tag."""


class EstimateRow(_Times, _Estimated):
    """What an account costs this month."""

    services: list[ServiceEstimate]
    """By what is charged for."""
    tags: list[TagEstimate]
    """By tags."""
