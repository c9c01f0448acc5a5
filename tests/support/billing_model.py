"""What invoices must say, worked out as Roost does not: bell by bell, and cent by cent."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from roost.core.billing.charges import LedgerRow

HOUR = timedelta(hours=1)
CENT = Decimal("0.01")
NOTHING = Decimal("0.00")


@dataclass(frozen=True)
class Owed:
    """One thing, unchanged for a part of a month."""

    service: str
    first: datetime
    last: datetime
    amount: Decimal


def in_force(own: Sequence[LedgerRow], at: datetime) -> LedgerRow | None:
    place = bisect_right([each.at for each in own], at)
    return own[place - 1] if place and own[place - 1].hourly is not None else None


def runs(
    own: Sequence[LedgerRow], start: datetime, end: datetime
) -> list[tuple[datetime, datetime]]:
    """The times without a break in which something cost money."""
    found: list[tuple[datetime, datetime]] = []
    for each, later in zip(own, [*own[1:], None], strict=True):
        first, last = max(each.at, start), min(end, end if later is None else later.at)
        if each.hourly is None or first >= last:
            continue
        if found and found[-1][1] == first:
            first = found.pop()[0]
        found.append((first, last))
    return found


def owed_for(own: Sequence[LedgerRow], start: datetime, end: datetime) -> list[Owed]:
    """A bell rings as a run begins and each hour of it; who has the thing then owes an hour.

    `own` are the rows about one thing.
    """
    hours: dict[int, int] = {}
    by_id = {each.id: each for each in own}
    for bell, last in runs(own, start, end):
        while bell < last:
            state = in_force(own, bell)
            assert state is not None
            hours[state.id] = hours.get(state.id, 0) + 1
            bell += HOUR
    found: list[Owed] = []
    paid = top = NOTHING
    for number, count in hours.items():
        state = by_id[number]
        assert state.hourly is not None
        assert state.monthly is not None
        month = state.monthly * state.quantity
        top = max(top, month)
        cost = min(state.hourly * state.quantity * count, month, top - paid)
        cost = max(cost, NOTHING).quantize(CENT, ROUND_HALF_UP)
        paid += cost
        later = [each.at for each in own if each.id > number]
        last = min([end, *later[:1]])
        found.append(Owed(state.service, max(state.at, start), last, cost))
    return found


@dataclass
class Promise:
    """A promotion, and what is left of it."""

    number: int
    service: str
    cap: Decimal
    created: datetime
    expires: datetime | None
    left: Decimal

    def pays_for(self, owed: Owed) -> bool:
        if self.service not in ("all", owed.service):
            return False
        return self.created < owed.last and (self.expires is None or self.expires > owed.first)


def taken(found: Sequence[Owed], promises: Sequence[Promise]) -> dict[int, Decimal]:
    """Every cent that is owed is put before the promotions, in their order, until one takes it."""
    unpaid = [int(owed.amount * 100) for owed in found]
    cents = dict.fromkeys((each.number for each in promises), 0)
    for each in sorted(
        promises, key=lambda p: (p.expires or datetime.max, p.service == "all", p.number)
    ):
        most = int(min(each.left, each.cap) * 100)
        for place, owed in enumerate(found):
            while each.pays_for(owed) and unpaid[place] and cents[each.number] < most:
                cents[each.number] += 1
                unpaid[place] -= 1
    return {number: count * CENT for number, count in cents.items() if count}


@dataclass
class Books:
    """Of one account."""

    taxes: Mapping[str, Decimal]
    promises: list[Promise] = field(default_factory=list)
    rows: list[LedgerRow] = field(default_factory=list)

    def invoice(self, start: datetime, end: datetime) -> tuple[Decimal, Decimal]:
        """What is owed for a month, without and with taxes; what is promised becomes less."""
        things = sorted({(each.service, each.resource_id) for each in self.rows})
        found = [
            owed
            for thing in things
            for owed in owed_for(
                [each for each in self.rows if (each.service, each.resource_id) == thing],
                start,
                end,
            )
        ]
        given = taken(found, self.promises)
        subtotal = sum((each.amount for each in found), NOTHING) - sum(given.values(), NOTHING)
        tax = NOTHING
        for rate in self.taxes.values():
            due = sum(
                ((each.amount * rate).quantize(CENT, ROUND_HALF_UP) for each in found), NOTHING
            )
            for amount in given.values():
                due -= min(due, (amount * rate).quantize(CENT, ROUND_HALF_UP))
            tax += due
        for promise in self.promises:
            promise.left -= given.get(promise.number, NOTHING)
        return subtotal, subtotal + tax
