"""What a transaction changes of an account's prices: the rows that it adds to the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from typing_extensions import TypedDict

from roost.store import Queries


class PriceChange(TypedDict):
    """What one thing costs; US dollars, without taxes."""

    service: str
    """Its word, as promotions and the ledger have it."""
    label: str
    """The label of the thing."""
    plan: str
    """The plan that it gets; empty for what has none."""
    region: str
    """Where it is."""
    hourly_before: float
    """Of an hour, now; 0 for what is new."""
    hourly_after: float
    """Of an hour; 0 for what is gone."""
    monthly_before: float
    """At most in a month, now."""
    monthly_after: float
    """At most in a month."""


class DryRunRow(TypedDict):
    """By how much a request would change what the account costs; US dollars, without taxes."""

    hourly: float
    """For each hour; negative when it would cost less."""
    monthly: float
    """At most for a month."""
    changes: list[PriceChange]
    """Each thing with another price; empty where nothing is charged for."""


@dataclass(frozen=True, slots=True)
class _Change:
    service: str
    label: str
    plan: str
    region: str
    hourly_before: Decimal
    hourly_after: Decimal
    monthly_before: Decimal
    monthly_after: Decimal

    def row(self) -> PriceChange:
        return {
            "service": self.service,
            "label": self.label,
            "plan": self.plan,
            "region": self.region,
            "hourly_before": float(self.hourly_before),
            "hourly_after": float(self.hourly_after),
            "monthly_before": float(self.monthly_before),
            "monthly_after": float(self.monthly_after),
        }


async def last_row(db: Queries) -> int:
    """Where the ledger ends before a transaction writes to it."""
    found: int = await db.fetchval("select coalesce(max(id), 0) from ledger")
    return found


async def price_changes(db: Queries, account_id: int, after: int) -> DryRunRow:
    """What this transaction has written to the ledger behind that row.

    Others write at the same time; the rows of this transaction bear its number.
    """
    rows = await db.fetch(
        """
        with mine as (
            select service, resource_id, min(id) as first, max(id) as last from ledger
            where id > $2 and account_id = $1 and xmin = pg_current_xact_id()::xid
            group by service, resource_id)
        select l.service, l.label, l.plan, l.region,
            coalesce(b.hourly, 0) as hourly_before,
            coalesce(l.hourly * l.quantity, 0) as hourly_after,
            coalesce(b.monthly, 0) as monthly_before,
            coalesce(l.monthly * l.quantity, 0) as monthly_after
        from mine m join ledger l on l.id = m.last
        left join lateral (
            select e.hourly * e.quantity as hourly, e.monthly * e.quantity as monthly
            from ledger e
            where e.service = m.service and e.resource_id = m.resource_id and e.id < m.first
            order by e.id desc limit 1) b on true
        order by l.id
        """,
        account_id,
        after,
    )
    changes = [_Change(**row) for row in rows]
    return {
        "hourly": _sum([each.hourly_after - each.hourly_before for each in changes]),
        "monthly": _sum([each.monthly_after - each.monthly_before for each in changes]),
        "changes": [each.row() for each in changes],
    }


def _sum(differences: Sequence[Decimal]) -> float:
    return float(sum(differences, Decimal(0)))
