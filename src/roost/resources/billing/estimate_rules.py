"""What an account costs in a month, up to now and up to its end: a pure function of the ledger."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from roost.core.billing.charges import Charge, LedgerRow, charges, month_start, next_month
from roost.resources.billing.records import EstimateRow

_ZERO = Decimal("0.00")


def estimate(rows: Sequence[LedgerRow], now: datetime, nouns: Mapping[str, str]) -> EstimateRow:
    """The bill for the month of `now` (UTC), if nothing changes until its end; without taxes.

    `rows` are those of `charges`, `nouns` what services are called by.
    """
    start = month_start(now)
    end = next_month(start)
    used, foreseen = charges(rows, start, now), charges(rows, start, end)
    services = _compare(_by_service(used), _by_service(foreseen))
    tags = _compare(_by_tag(used), _by_tag(foreseen))
    return {
        "from": start.isoformat(),
        "to": end.isoformat(),
        "so_far": _sum(used),
        "at_end": _sum(foreseen),
        "services": [
            {"service": name, "label": nouns.get(name, name), "so_far": was, "at_end": will}
            for name, was, will in services
        ],
        "tags": [{"tag": name, "so_far": was, "at_end": will} for name, was, will in tags],
    }


def _by_service(found: Iterable[Charge]) -> Mapping[str, Decimal]:
    sums = defaultdict[str, Decimal](lambda: _ZERO)
    for charge in found:
        sums[charge.row.service] += charge.amount
    return sums


def _by_tag(found: Iterable[Charge]) -> Mapping[str, Decimal]:
    """What has several tags counts for each."""
    sums = defaultdict[str, Decimal](lambda: _ZERO)
    for charge in found:
        for tag in charge.row.tags:
            sums[tag] += charge.amount
    return sums


def _compare(
    used: Mapping[str, Decimal], foreseen: Mapping[str, Decimal]
) -> list[tuple[str, float, float]]:
    return [
        (name, float(used.get(name, _ZERO)), float(foreseen[name])) for name in sorted(foreseen)
    ]


def _sum(found: Iterable[Charge]) -> float:
    return float(sum((charge.amount for charge in found), _ZERO))
