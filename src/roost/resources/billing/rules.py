"""From the charges of a month to an invoice, as pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import orjson

from roost.core.billing.charges import Charge, LedgerRow, Tax, charges, taxes_on
from roost.core.billing.promotions import SERVICE, Discount, Promotion, after, discounts
from roost.core.catalog.entries import TaxEntry
from roost.resources.billing.queries import ItemKey, NewInvoice, Payer

_ZERO = Decimal("0.00")


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


@dataclass(frozen=True, slots=True)
class Month:
    """What an account is invoiced for (UTC)."""

    starts: datetime
    ends: datetime


@dataclass(frozen=True, slots=True)
class Line:
    """One item of an invoice; amounts in US dollars."""

    key: ItemKey
    label: str
    plan: str
    region: str
    tags: list[str]
    taxes: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Bill:
    """What an account owes for a month."""

    lines: Sequence[Line]
    taxes: Sequence[Tax]
    promotions: Sequence[Promotion]
    """As the bill leaves them."""

    @property
    def subtotal(self) -> Decimal:
        return sum((line.key.amount for line in self.lines), _ZERO)

    @property
    def by_tax(self) -> dict[str, Decimal]:
        return {
            tax.name: sum((line.taxes[tax.name] for line in self.lines), _ZERO)
            for tax in self.taxes
        }

    @property
    def tax(self) -> Decimal:
        return sum(self.by_tax.values(), _ZERO)

    @property
    def total(self) -> Decimal:
        return self.subtotal + self.tax


def bill(
    rows: Sequence[LedgerRow],
    month: Month,
    taxes: Sequence[Tax],
    promotions: Sequence[Promotion],
    nouns: Mapping[str, str],
) -> Bill:
    """Charges, each of which is taxed by itself, and then what promotions pay of them."""
    found = charges(rows, month.starts, month.ends)
    given = discounts(found, promotions)
    lines = [_charged(charge, taxes, nouns) for charge in found]
    for discount in given:
        lines.append(_discounted(discount, month, taxes, lines))
    return Bill(lines, taxes, after(promotions, given))


def total(
    rows: Sequence[LedgerRow],
    months: Iterable[Month],
    taxes: Sequence[Tax],
    promotions: Sequence[Promotion],
) -> Decimal:
    """What the invoices of months come to, in US dollars."""
    due = Decimal(0)
    for month in months:
        made = bill(rows, month, taxes, promotions, {})
        due, promotions = due + made.total, made.promotions
    return due


def draw_up(payer: Payer, month: Month, made: Bill) -> NewInvoice | None:
    """None where nothing was used."""
    if not made.lines:
        return None
    return NewInvoice(
        account_id=payer.id,
        starts=month.starts,
        ends=month.ends,
        subtotal=made.subtotal,
        tax=made.tax,
        tax_summary=_json([{"name": n, "tax": float(t)} for n, t in made.by_tax.items()]),
        taxes=_json({tax.name: str(tax.rate) for tax in made.taxes}),
        billing_source=payer.billing_source,
        debtor_id=payer.debtor_id,
        items=_json([_item(line) for line in made.lines]),
    )


def _charged(charge: Charge, taxes: Sequence[Tax], nouns: Mapping[str, str]) -> Line:
    row, by_tax = charge.row, taxes_on(charge.amount, taxes)
    name = " ".join(word for word in (nouns.get(row.service, row.service), row.plan) if word)
    key = ItemKey(
        row.service,
        row.resource_id,
        charge.start,
        charge.end,
        charge.hours,
        charge.unit_price,
        charge.amount,
        sum(by_tax.values(), _ZERO),
    )
    label = f"{name} - {row.label} ({row.resource_id})"
    return Line(key, label, row.plan, row.region, row.tags, by_tax)


def _discounted(
    discount: Discount, month: Month, taxes: Sequence[Tax], before: Sequence[Line]
) -> Line:
    """Less tax too, but never less than what was rounded up to a cent before."""
    promotion, amount = discount.promotion, -discount.amount
    by_tax = {
        name: max(tax, -sum((line.taxes[name] for line in before), _ZERO))
        for name, tax in taxes_on(amount, taxes).items()
    }
    tax = sum(by_tax.values(), _ZERO)
    key = ItemKey(SERVICE, promotion.id, month.starts, month.ends, 1, amount, amount, tax)
    return Line(key, f"Promotion - {promotion.summary}", "", "", [], by_tax)


def _item(line: Line) -> dict[str, object]:
    return {
        "service": line.key.service,
        "resource_id": line.key.resource_id,
        "label": line.label,
        "plan": line.plan,
        "region": line.region,
        "tags": line.tags,
        "from": line.key.start,
        "to": line.key.end,
        "quantity": line.key.quantity,
        "unit_price": str(line.key.unit_price),
        "amount": str(line.key.amount),
        "tax": str(line.key.tax),
    }


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
