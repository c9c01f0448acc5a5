"""The pools of what an account may send in a month, as a pure function of its ledger."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from roost.core.billing.charges import LedgerRow, spans
from roost.resources.usage.rules import billable

SHARED = ""
"""The pool of all regions that have none of their own."""
_GB = 10**9


@dataclass(frozen=True, slots=True)
class Pool:
    """GB of a month."""

    quota: int
    used: int

    @property
    def billable(self) -> int:
        return billable(self.used, self.quota)


def pools(
    rows: Sequence[LedgerRow],
    sent: Mapping[str, int],
    plans: Mapping[str, int],
    own: Collection[str],
    month: tuple[datetime, datetime],
    beside: tuple[int, int] = (0, 0),
) -> dict[str, Pool]:
    """By region, and the shared one.

    `rows` are those of the account's instances, whose plans give so many GB for a whole month, in
    proportion to their life in it, up to its end where they still live. `sent` are the bytes that
    left each region; `own` the regions with pools of their own; `beside` what object storage adds
    to the shared one, in GB, and the bytes that were got from it.
    """
    first, following = month
    of_one = dict[int, list[LedgerRow]]()
    for row in sorted(rows, key=lambda row: row.id):
        of_one.setdefault(row.resource_id, []).append(row)
    quotas, used = dict.fromkeys((*own, SHARED), Fraction()), dict.fromkeys((*own, SHARED), 0)
    quotas[SHARED], used[SHARED] = Fraction(beside[0]), beside[1]
    for row, start, end in (each for one in of_one.values() for each in spans(one, *month)):
        if row.hourly is not None:
            share = Fraction(int((end - start).total_seconds()))
            share /= int((following - first).total_seconds())
            quotas[_pool(row.region, own)] += plans.get(row.plan, 0) * share
    for region, amount in sent.items():
        used[_pool(region, own)] += amount
    return {name: Pool(int(quotas[name]), used[name] // _GB) for name in quotas}


def _pool(region: str, own: Collection[str]) -> str:
    return region if region in own else SHARED
