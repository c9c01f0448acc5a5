"""What holds of cards and payments, as pure functions (spec B account)."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

MAX_METHODS: Final = 6
"""Active ones of an account (spec B account 5)."""
MAX_ADDED: Final = 60
"""In a day."""

DUE: Final = timedelta(days=14)
"""That accounts have to pay an invoice."""

_AGAIN = (3, 5, 7)
"""Days after each try to charge an invoice by itself; there is no other one after the last."""

_LEAST, _MOST = Decimal(5), Decimal(2000)
_MOST_OF_BALANCE = Decimal(50000)

_BRANDS = (
    ("American Express", ("34", "37")),
    ("Discover", ("6011", "644", "645", "646", "647", "648", "649", "65")),
    ("JCB", tuple(str(n) for n in range(3528, 3590))),
    ("MasterCard", (*map(str, range(51, 56)), *map(str, range(2221, 2721)))),
    ("Visa", ("4",)),
)
"""By how numbers begin (ISO/IEC 7812)."""


def brand_of(number: str) -> str:
    """Whose card it is."""
    return next((name for name, starts in _BRANDS if number.startswith(starts)), "Other")


def is_card_number(digits: str) -> bool:
    """Whether its last digit checks the others (ISO/IEC 7812-1, annex B)."""
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    rest = (int(digit) for digit in digits[-1::-2])
    return (sum(number // 10 + number % 10 for number in doubled) + sum(rest)) % 10 == 0


def has_expired(month: int, year: int, now: datetime) -> bool:
    """A card can be used until the end of its month."""
    return (year, month) < (now.year, now.month)


def charged_again(tries: int, now: datetime) -> datetime | None:
    """When a card is charged again after so many tries, if that is declined too; None: never."""
    return now + timedelta(days=_AGAIN[tries - 1]) if tries <= len(_AGAIN) else None


def amount_problem(usd: Decimal, owed: Decimal) -> str | None:
    """What is wrong with a payment of an account that owes so much (spec B account 7)."""
    least = owed if 0 < owed < _LEAST else _LEAST
    most = max(_MOST, min(owed, _MOST_OF_BALANCE))
    if not least <= usd <= most:
        return f"Must be ${least:.2f}-${most:.2f}"
    return None
