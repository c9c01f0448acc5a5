"""What the rows of a ledger come to: a pure function, in exact decimals.

Hours count from the start of a thing's unbroken time in the month, and each begun one counts once,
whatever becomes of the thing within it. An item costs no more than its monthly price, and all items
of one thing in a month no more than the dearest monthly price that it had. What is used up at once
costs its price for each unit, summed up over the month.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby, pairwise

CENT = Decimal("0.01")
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """What something costs from `at` on; no price: nothing. With a monthly price alone it is what
    was used up since the row before, and costs it once."""

    id: int
    service: str
    resource_id: int
    at: datetime
    label: str
    plan: str
    region: str
    quantity: int
    hourly: Decimal | None
    monthly: Decimal | None
    tags: list[str]

    @property
    def at_once(self) -> bool:
        return self.hourly is None and self.monthly is not None


@dataclass(frozen=True, slots=True)
class Charge:
    """One thing, unchanged for some hours of a month, or all of it that was used up in one."""

    row: LedgerRow
    start: datetime
    end: datetime
    hours: int
    """Units, where it is used up at once."""
    unit_price: Decimal
    """Of an hour, for the whole quantity; of a unit."""
    amount: Decimal
    """US dollars, whole cents."""


@dataclass(frozen=True, slots=True)
class Tax:
    """A share of each amount, such as 0.19."""

    name: str
    rate: Decimal


def to_cents(amount: Decimal) -> Decimal:
    """Half a cent is a cent."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def month_start(at: datetime) -> datetime:
    """The first moment of a month (UTC)."""
    return at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def next_month(start: datetime) -> datetime:
    """The one after a month's first moment."""
    return month_start(start + timedelta(days=32))


def charges(rows: Sequence[LedgerRow], start: datetime, end: datetime) -> list[Charge]:
    """What an account owes for the time from `start` to `end`, which lie in one month.

    `rows` are its own, at least those since `start` and the last one of each thing before.
    """
    ordered = sorted(rows, key=lambda row: (row.service, row.resource_id, row.id))
    found: list[Charge] = []
    for _, of_one in groupby(ordered, key=lambda row: (row.service, row.resource_id)):
        own = list(of_one)
        if own[-1].at_once:
            found.extend(_at_once(own, start, end))
        else:
            found.extend(_of_one(own, start, end))
    return found


def _at_once(rows: list[LedgerRow], start: datetime, end: datetime) -> Iterator[Charge]:
    """One for each region and price; what was taken back again is none."""
    sums = dict[tuple[str, Decimal], tuple[LedgerRow, int]]()
    for row in rows:
        if row.monthly is not None and start <= row.at < end:
            key = row.region, row.monthly
            first, units = sums.get(key, (row, 0))
            sums[key] = first, units + row.quantity
    for (_, price), (first, units) in sorted(sums.items()):
        if units:
            yield Charge(first, start, end, units, price, to_cents(units * price))


def _of_one(rows: list[LedgerRow], start: datetime, end: datetime) -> Iterator[Charge]:
    charged = dearest = Decimal(0)
    origin: datetime | None = None
    for row, first, last in spans(rows, start, end):
        if row.hourly is None or row.monthly is None:
            origin = None
            continue
        origin = origin or first
        hours = _begun(last - origin) - _begun(first - origin)
        if hours <= 0:
            continue
        unit_price, monthly = row.hourly * row.quantity, row.monthly * row.quantity
        dearest = max(dearest, monthly)
        amount = to_cents(max(Decimal(0), min(hours * unit_price, monthly, dearest - charged)))
        charged += amount
        yield Charge(row, first, last, hours, unit_price, amount)


def spans(
    rows: list[LedgerRow], start: datetime, end: datetime
) -> Iterator[tuple[LedgerRow, datetime, datetime]]:
    """Each row with the time that it held, within the month; a clock that went back stood still."""
    times: list[datetime] = []
    for row in rows:
        times.append(max(row.at, times[-1]) if times else row.at)
    for row, (first, last) in zip(rows, pairwise([*times, max(end, times[-1])]), strict=True):
        first, last = max(first, start), min(last, end)
        if first < last:
            yield row, first, last


def _begun(time: timedelta) -> int:
    return -(-time // _HOUR)


def taxes_on(amount: Decimal, taxes: Iterable[Tax]) -> dict[str, Decimal]:
    """Each in whole cents."""
    return {tax.name: to_cents(amount * tax.rate) for tax in taxes}
