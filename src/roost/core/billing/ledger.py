"""The ledger: what costs how much since when. Rows are added, and never changed.

A group declares what it charges for (`Billable`, in its manifest) and calls `record` in the
transaction of every change of that. A row says what a thing costs from a moment on, until the next
row about it; one without a price says that it costs nothing any more.
"""

# ruff: noqa: S608  (statements are put together from constants)

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from roost.store import Queries

_COLUMNS = "label, plan, region, quantity, hourly, monthly, tags"


@dataclass(frozen=True)
class Billable:
    """Something that accounts are charged for by the hour, with a cap for each month."""

    service: str
    """The word of promotions and invoices for it."""
    noun: str
    """What items are called by: `Volume`."""
    state: str
    """A select of all that are charged for now: `id`, `account_id`, `label`, `plan`, `region`,
    `quantity`, the `hourly` and `monthly` price of one in US dollars (numeric), and `tags`."""

    @cached_property
    def first(self) -> str:
        """The first row about something new, $1: one plain insert."""
        return _insert(
            f"""
            select s.account_id, '{self.service}' as service, s.id as resource_id, {_COLUMNS}
            from ({self.state}) s where s.id = $1
            """,
            "$2",
        )

    @cached_property
    def of_one(self) -> str:
        """The rows that the ledger lacks about one thing, $1."""
        return _insert(self._changes("s.id = $1", "l.resource_id = $1"), "$2")

    @cached_property
    def of_all(self) -> str:
        return _insert(self._changes("true", "true"), "$1")

    def _changes(self, of_state: str, of_ledger: str) -> str:
        return f"""
            with state as materialized (select s.* from ({self.state}) s where {of_state}),
            last as materialized (
                select distinct on (l.resource_id) l.* from ledger l
                where l.service = '{self.service}' and {of_ledger}
                order by l.resource_id, l.id desc)
            select s.account_id, '{self.service}' as service, s.id as resource_id, s.label, s.plan,
                s.region, s.quantity, s.hourly, s.monthly, s.tags
            from state s left join last l on l.resource_id = s.id
            where (l.account_id, l.plan, l.region, l.quantity, l.hourly, l.monthly) is distinct from
                (s.account_id, s.plan, s.region, s.quantity, s.hourly, s.monthly)
            union all
            select l.account_id, l.service, l.resource_id, l.label, l.plan, l.region, l.quantity,
                null, null, l.tags
            from last l where l.hourly is not null and not exists (
                select from state s where s.id = l.resource_id and s.account_id = l.account_id)
            """


class Billables:
    """All that accounts are charged for."""

    def __init__(self, *billables: Billable) -> None:
        self.by_service = {each.service: each for each in billables}


def price_sql(price: str, region_prices: str, region: str) -> str:
    """SQL of `hourly` and `monthly`, given the JSON of a price and of those of regions.

    Text of JSON becomes numeric without a float between.
    """
    chosen = f"""coalesce((select r from json_array_elements({region_prices}) r
        where r ->> 'id' = {region} limit 1), {price})"""
    return (
        f"({chosen} ->> 'hourly')::numeric as hourly, ({chosen} ->> 'monthly')::numeric as monthly"
    )


def _insert(rows: str, at: str) -> str:
    """A period that has been invoiced stays as it is, wherever a clock was put back."""
    return f"""
        insert into ledger (account_id, service, resource_id, at, {_COLUMNS})
        select r.account_id, r.service, r.resource_id, greatest({at}::timestamp(0),
            (select invoiced_until from account where id = r.account_id)), {_COLUMNS}
        from ({rows}) r
        """


async def begin(db: Queries, billable: Billable, resource_id: int, at: datetime) -> None:
    """Charge for something new from now on (UTC)."""
    await db.execute(billable.first, resource_id, at.replace(microsecond=0))


async def record(db: Queries, billable: Billable, resource_id: int, at: datetime) -> None:
    """Charge for what it is from now on, if that is something else; for nothing when it is gone."""
    await db.execute(billable.of_one, resource_id, at.replace(microsecond=0))


async def record_all(db: Queries, billable: Billable, at: datetime) -> None:
    """The same for all of a kind: after prices have changed."""
    await db.execute(billable.of_all, at.replace(microsecond=0))
