"""What a ledger comes to, against a model that counts hour by hour."""

import random
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from tests.support.billing_model import owed_for

from roost.core.billing.charges import LedgerRow, Tax, charges, next_month, taxes_on

START = datetime(2028, 1, 1)
HOUR = timedelta(hours=1)
PRICES = [("0.0075", "5"), ("0.03", "20"), ("0.00015", "0.1"), ("0.0105", "7"), ("0", "0")]


def row(
    number: int, at: datetime, price: tuple[str, str] | None, thing: int = 1, quantity: int = 1
) -> LedgerRow:
    hourly, monthly = (None, None) if price is None else (Decimal(price[0]), Decimal(price[1]))
    return LedgerRow(number, "compute", thing, at, "a", "p", "r", quantity, hourly, monthly, [])


def amounts(rows: list[LedgerRow], start: datetime = START) -> list[tuple[int, str]]:
    found = charges(rows, start, next_month(start))
    return [(charge.hours, str(charge.amount)) for charge in found]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([(0, 0)], [(744, "5.00")]),
        ([(0, 0), (1, None)], [(1, "0.01")]),
        ([(0, 0), (0.2, None)], [(1, "0.01")]),
        ([(0, 0), (1.2, None)], [(2, "0.02")]),
        ([(0, 1), (0.5, 0), (10, None)], [(1, "0.03"), (9, "0.07")]),
        ([(0.5, 0), (0.5, None)], []),
        ([(0, 1), (743, 0)], [(743, "20.00"), (1, "0.00")]),
        ([(0, 0), (372, 3)], [(372, "2.79"), (372, "3.91")]),
        ([(0, 0), (1, None), (5, 0), (6, None)], [(1, "0.01"), (1, "0.01")]),
        ([(-800, 0)], [(744, "5.00")]),
        ([(-800, 0), (-1, None)], []),
        ([(10, 0), (5, None)], []),  # The clock went back: not a moment passed.
    ],
)
def test_hours_and_caps(
    changes: list[tuple[float, int | None]], expected: list[tuple[int, str]]
) -> None:
    rows = [
        row(n, START + at * HOUR, None if price is None else PRICES[price])
        for n, (at, price) in enumerate(changes)
    ]
    assert amounts(rows) == expected


@pytest.mark.parametrize(("month", "hours"), [(1, 744), (2, 696), (4, 720)])
def test_months_have_their_own_length(month: int, hours: int) -> None:
    start = datetime(2028, month, 1)
    assert amounts([row(1, datetime(2027, 1, 1), PRICES[0])], start) == [(hours, "5.00")]


def test_each_tax_is_of_whole_cents() -> None:
    taxes = [Tax("VAT", Decimal("0.19")), Tax("City", Decimal("0.005"))]
    assert taxes_on(Decimal("5.00"), taxes) == {"VAT": Decimal("0.95"), "City": Decimal("0.03")}


def model(rows: list[LedgerRow], start: datetime, end: datetime) -> Decimal:
    things = {each.resource_id for each in rows}
    own = ([each for each in rows if each.resource_id == thing] for thing in things)
    return sum((owed.amount for one in own for owed in owed_for(one, start, end)), Decimal(0))


@pytest.mark.parametrize("seed", range(10))
def test_a_virtual_year(seed: int) -> None:
    """Lives of all lengths, in a leap year; every month is the model's to the cent."""
    dice = random.Random(seed)
    rows: list[LedgerRow] = []
    for thing in range(6):
        at = START + timedelta(minutes=dice.randrange(300 * 24 * 60))
        for _ in range(dice.randrange(1, 8)):
            price = dice.choice([*PRICES, None])
            rows.append(row(len(rows), at, price, thing, dice.choice([1, 20])))
            at += timedelta(minutes=dice.choice([1, 59, 60, 61, 3000, 40_000]))
    compared, start = 0, START
    for _ in range(12):
        end = next_month(start)
        found = sum((charge.amount for charge in charges(rows, start, end)), Decimal(0))
        assert found == model(rows, start, end)
        compared += int(found * 100)
        start = end
    assert compared > 0
    assert start == datetime(2029, 1, 1)


def beyond(number: int, at: datetime, quantity: int, price: str = "0.005") -> LedgerRow:
    return LedgerRow(number, "transfer", 1, at, "a", "", "", quantity, None, Decimal(price), [])


def test_what_is_used_up_at_once() -> None:
    """Summed up over the month in which it was used, by region and price."""
    day = timedelta(days=1)
    rows = [
        beyond(1, START - day, 900),
        beyond(2, START, 300),
        beyond(3, START + 5 * day, -100),
        beyond(4, START + 6 * day, 10, "0.01"),
        beyond(5, START + 7 * day, 5, "0.02"),
        beyond(6, START + 7 * day, -5, "0.02"),
        beyond(7, next_month(START), 900),
    ]
    assert amounts(rows) == [(200, "1.00"), (10, "0.10")]
    found = charges(rows, START, next_month(START))
    assert {(each.start, each.end) for each in found} == {(START, next_month(START))}
