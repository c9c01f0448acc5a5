"""What promotions take off an invoice: a pure function, in exact decimals.

A promotion pays for charges of its service, made while it held, up to its monthly cap and to what
is left of it. The one that ends first comes first, one for a single service before one for all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from roost.core.billing.charges import Charge

SERVICE = "promotion"
"""Of the items of invoices that promotions are."""
ALL = "all"

_ZERO = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class Promotion:
    """What an account was promised; US dollars."""

    id: int
    summary: str
    service_type: str
    """What it pays for; `all` for everything."""
    monthly_cap: Decimal
    created: datetime
    expires: datetime | None
    left: Decimal
    """Of all that it pays for."""


@dataclass(frozen=True, slots=True)
class Discount:
    """What a promotion pays of one invoice."""

    promotion: Promotion
    amount: Decimal
    """US dollars, more than 0."""


def discounts(found: Sequence[Charge], promotions: Sequence[Promotion]) -> list[Discount]:
    """What promotions pay of the charges of one month; no charge is paid for twice."""
    unpaid, given = [charge.amount for charge in found], list[Discount]()
    for promotion in sorted(promotions, key=_order):
        allowance = min(promotion.monthly_cap, promotion.left)
        amount = _ZERO
        for place, charge in enumerate(found):
            if _pays_for(promotion, charge):
                paid = min(unpaid[place], allowance - amount)
                unpaid[place] -= paid
                amount += paid
        if amount > 0:
            given.append(Discount(promotion, amount))
    return given


def after(promotions: Sequence[Promotion], given: Sequence[Discount]) -> list[Promotion]:
    """The promotions as an invoice leaves them."""
    paid: Mapping[int, Decimal] = {each.promotion.id: each.amount for each in given}
    return [replace(each, left=each.left - paid.get(each.id, _ZERO)) for each in promotions]


def _order(promotion: Promotion) -> tuple[datetime, bool, int]:
    return promotion.expires or datetime.max, promotion.service_type == ALL, promotion.id


def _pays_for(promotion: Promotion, charge: Charge) -> bool:
    held = promotion.expires is None or charge.start < promotion.expires
    begun = promotion.created < charge.end
    return begun and held and promotion.service_type in (ALL, charge.row.service)
