"""From the charges of a month to an invoice, as pure functions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import orjson

from roost.core.billing.charges import Charge, LedgerRow, Tax, charges, taxes_on, totals
from roost.core.catalog.entries import TaxEntry
from roost.resources.billing.queries import ItemKey, NewInvoice, Payer


def taxes_for(entries: Iterable[TaxEntry], payer: Payer) -> list[Tax]:
    """Those of the payer's country and state, that they do not pay themselves."""
    return [
        Tax(entry.name, Decimal(entry.rate))
        for entry in entries
        if entry.country == payer.country
        and entry.state in (None, payer.state)
        and not (entry.reverse_charge and payer.tax_id)
    ]


def open_rows(rows: Sequence[LedgerRow]) -> list[int]:
    """The ids of those that hold on."""
    last = {(row.service, row.resource_id): row for row in sorted(rows, key=lambda row: row.id)}
    return sorted(row.id for row in last.values() if row.hourly is not None)


def item_key(charge: Charge, taxes: Sequence[Tax]) -> ItemKey:
    """What counts of the item for a charge."""
    row, tax = charge.row, sum(taxes_on(charge.amount, taxes).values(), Decimal("0.00"))
    return (
        row.service,
        row.resource_id,
        charge.start,
        charge.end,
        charge.hours,
        charge.unit_price,
        charge.amount,
        tax,
    )


@dataclass(frozen=True, slots=True)
class Month:
    """What an account is invoiced for (UTC)."""

    starts: datetime
    ends: datetime


def total(rows: Sequence[LedgerRow], months: Iterable[Month], taxes: Sequence[Tax]) -> Decimal:
    """What the invoices of months come to, in US dollars."""
    sums = (totals(charges(rows, each.starts, each.ends), taxes) for each in months)
    return sum((each.total for each in sums), Decimal(0))


def draw_up(
    payer: Payer,
    month: Month,
    rows: Sequence[LedgerRow],
    taxes: Sequence[Tax],
    nouns: dict[str, str],
) -> NewInvoice | None:
    """None where nothing was used."""
    found = charges(rows, month.starts, month.ends)
    if not found:
        return None
    sums = totals(found, taxes)
    return NewInvoice(
        account_id=payer.id,
        starts=month.starts,
        ends=month.ends,
        subtotal=sums.subtotal,
        tax=sums.tax,
        tax_summary=_json([{"name": n, "tax": float(t)} for n, t in sums.by_tax.items()]),
        taxes=_json({tax.name: str(tax.rate) for tax in taxes}),
        billing_source=payer.billing_source,
        items=_json([_item(charge, taxes, nouns) for charge in found]),
    )


def _item(charge: Charge, taxes: Sequence[Tax], nouns: dict[str, str]) -> dict[str, object]:
    row, (*_, amount, tax) = charge.row, item_key(charge, taxes)
    name = " ".join(word for word in (nouns.get(row.service, row.service), row.plan) if word)
    return {
        "service": row.service,
        "resource_id": row.resource_id,
        "label": f"{name} - {row.label} ({row.resource_id})",
        "plan": row.plan,
        "region": row.region,
        "tags": row.tags,
        "from": charge.start,
        "to": charge.end,
        "quantity": charge.hours,
        "unit_price": str(charge.unit_price),
        "amount": str(amount),
        "tax": str(tax),
    }


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
