"""Cards and amounts, as tables (spec B account)."""

from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.resources.payments.rules import amount_problem, brand_of, has_expired, is_card_number


@pytest.mark.parametrize(
    ("number", "brand"),
    [
        ("4242424242424242", "Visa"),
        ("5555555555554444", "MasterCard"),
        ("2223003122003222", "MasterCard"),
        ("371449635398431", "American Express"),
        ("6011111111111117", "Discover"),
        ("3566002020360505", "JCB"),
        ("30569309025904", "Other"),
    ],
)
def test_numbers_of_test_cards(number: str, brand: str) -> None:
    assert is_card_number(number)
    assert brand_of(number) == brand


@given(st.text("0123456789", min_size=14, max_size=24), st.data())
def test_one_wrong_digit_is_seen(digits: str, data: st.DataObject) -> None:
    valid = next(
        f"{digits[:-1]}{last}" for last in range(10) if is_card_number(f"{digits[:-1]}{last}")
    )
    place = data.draw(st.integers(0, len(valid) - 1))
    other = data.draw(st.sampled_from([d for d in "0123456789" if d != valid[place]]))
    assert not is_card_number(valid[:place] + other + valid[place + 1 :])


@pytest.mark.parametrize(
    ("month", "year", "expired"),
    [(5, 2030, False), (4, 2030, True), (12, 2029, True), (1, 2031, False), (5, 1000, True)],
)
def test_a_card_lasts_until_the_end_of_its_month(month: int, year: int, expired: bool) -> None:
    assert has_expired(month, year, datetime(2030, 5, 31, 23, 59, 59)) is expired


@pytest.mark.spec("B limits payment least", "B limits payment most", "B account 7")
@pytest.mark.parametrize(
    ("usd", "owed", "bounds"),
    [
        ("5.00", "0", None),
        ("4.99", "0", "$5.00-$2000.00"),
        ("4.99", "-20", "$5.00-$2000.00"),
        ("0.00", "0", "$5.00-$2000.00"),
        ("3.10", "3.10", None),
        ("3.09", "3.10", "$3.10-$2000.00"),
        ("2000.00", "0", None),
        ("2000.01", "1999", "$5.00-$2000.00"),
        ("2000.01", "3000", None),
        ("3000.01", "3000", "$5.00-$3000.00"),
        ("50000.00", "70000", None),
        ("50000.01", "70000", "$5.00-$50000.00"),
    ],
)
def test_bounds_of_payments(usd: str, owed: str, bounds: str | None) -> None:
    problem = amount_problem(Decimal(usd), Decimal(owed))
    assert problem == (None if bounds is None else f"Must be {bounds}")
