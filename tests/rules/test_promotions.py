"""What promotions take off an invoice, against a model that pays cent by cent."""

import random
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from roost.core.billing.charges import Charge, LedgerRow, Tax, charges, next_month
from roost.core.billing.promotions import Promotion, after, discounts
from roost.resources.billing.rules import Month, bill

START, END = datetime(2028, 1, 1), datetime(2028, 2, 1)
CENT = Decimal("0.01")


def charge(
    usd: str, service: str = "compute", start: datetime = START, end: datetime = END
) -> Charge:
    row = LedgerRow(1, service, 1, start, "a", "p", "r", 1, Decimal(1), Decimal(1), [])
    return Charge(row, start, end, 1, Decimal(usd), Decimal(usd))


def promotion(
    number: int = 1,
    left: str = "100",
    cap: str = "100",
    service: str = "all",
    created: datetime = START,
    expires: datetime | None = None,
) -> Promotion:
    return Promotion(number, "gift", service, Decimal(cap), created, expires, Decimal(left))


def given(found: list[Charge], *promotions: Promotion) -> list[tuple[int, str]]:
    return [(each.promotion.id, str(each.amount)) for each in discounts(found, promotions)]


def test_up_to_the_cap_and_what_is_left() -> None:
    found = [charge("7.00"), charge("5.00", "backup")]
    assert given(found, promotion()) == [(1, "12.00")]
    assert given(found, promotion(cap="10.00")) == [(1, "10.00")]
    assert given(found, promotion(left="3.00")) == [(1, "3.00")]
    assert given(found, promotion(left="0")) == []
    assert given([], promotion()) == []


def test_of_its_service_alone() -> None:
    found = [charge("7.00"), charge("5.00", "backup")]
    assert given(found, promotion(service="backup")) == [(1, "5.00")]
    assert given(found, promotion(service="db_mysql")) == []


@pytest.mark.parametrize(
    ("created", "expires", "pays"),
    [
        (datetime(2028, 1, 15), None, True),
        (END, None, False),
        (datetime(2027, 1, 1), datetime(2028, 1, 2), True),
        (datetime(2027, 1, 1), START, False),
    ],
)
def test_while_it_holds(created: datetime, expires: datetime | None, pays: bool) -> None:
    assert bool(given([charge("7.00")], promotion(created=created, expires=expires))) is pays


def test_what_ends_first_pays_first() -> None:
    found = [charge("7.00")]
    later = promotion(1, expires=datetime(2029, 1, 1))
    sooner = promotion(2, "5.00", expires=datetime(2028, 6, 1))
    assert given(found, promotion(3), later, sooner) == [(2, "5.00"), (1, "2.00")]
    special = promotion(4, service="compute")
    assert given(found, promotion(3), special) == [(4, "7.00")]


def test_what_is_left_afterwards() -> None:
    both = [promotion(1, "5.00"), promotion(2, "9.00", service="backup")]
    left = after(both, discounts([charge("3.00")], both))
    assert [str(each.left) for each in left] == ["2.00", "9.00"]


def test_tax_is_never_less_than_nothing() -> None:
    """Three times two cents are taxed with nothing each, and six cents less with a cent."""
    rows = [
        LedgerRow(n, "compute", n, START, "a", "p", "r", 1, Decimal("0.02"), Decimal("0.02"), [])
        for n in range(3)
    ]
    made = bill(rows, Month(START, END), [Tax("VAT", Decimal("0.19"))], [promotion()], {})
    assert [str(usd) for usd in (made.subtotal, made.tax, made.total)] == ["0.00"] * 3
    assert [str(line.key.amount) for line in made.lines] == ["0.02", "0.02", "0.02", "-0.06"]


def model(found: list[Charge], promotions: list[Promotion]) -> dict[int, Decimal]:
    """Every cent that is owed is put before the promotions, in their order, until one takes it."""
    order = sorted(
        promotions, key=lambda p: (p.expires or datetime.max, p.service_type == "all", p.id)
    )
    taken = {each.id: Decimal(0) for each in promotions}
    unpaid = [owed.amount for owed in found]
    for each in order:
        for place, owed in enumerate(found):
            if each.service_type not in ("all", owed.row.service):
                continue
            if each.created >= owed.end or (each.expires and each.expires <= owed.start):
                continue
            while unpaid[place] > 0 and taken[each.id] < min(each.left, each.monthly_cap):
                taken[each.id] += CENT
                unpaid[place] -= CENT
    return {number: usd for number, usd in taken.items() if usd}


@pytest.mark.parametrize("seed", range(10))
def test_a_virtual_year(seed: int) -> None:
    """Each month is the model's to the cent; nothing is promised twice, and nothing owed twice."""
    dice = random.Random(seed)
    services = ("compute", "backup", "blockstorage")
    rows = [
        LedgerRow(
            n,
            dice.choice(services),
            n,
            START + timedelta(minutes=dice.randrange(200 * 24 * 60)),
            *("a", "p", "r", 1),
            Decimal("0.0075"),
            Decimal(5),
            [],
        )
        for n in range(8)
    ]
    promotions = [
        promotion(
            n,
            str(dice.randrange(1, 4000) * CENT),
            str(dice.randrange(1, 900) * CENT),
            dice.choice(("all", *services)),
            START + timedelta(days=dice.randrange(300)),
            dice.choice((None, START + timedelta(days=dice.randrange(400)))),
        )
        for n in range(6)
    ]
    promised = {each.id: each.left for each in promotions}
    start, compared = START, 0
    taxes = [Tax("VAT", Decimal("0.19")), Tax("City", Decimal("0.015"))]
    for _ in range(12):
        end = next_month(start)
        found = charges(rows, start, end)
        paid = discounts(found, promotions)
        assert {each.promotion.id: each.amount for each in paid} == model(found, promotions)
        made = bill(rows, Month(start, end), taxes, promotions, {})
        assert made.total >= 0
        assert made.tax >= 0
        owed = sum((each.amount for each in found), Decimal(0))
        assert made.subtotal == owed - sum((each.amount for each in paid), Decimal(0))
        compared += int(made.total * 100)
        start, promotions = end, after(promotions, paid)
    assert compared > 0
    assert all(0 <= each.left <= promised[each.id] for each in promotions)
