"""The ledger: what costs how much since when. Rows are added, and never changed.

A group declares what it charges for (`Billable`, in its manifest) and calls `record` in the
transaction of every change of that. A row says what a thing costs from a moment on, until the next
row about it; one without a price says that it costs nothing any more.
"""

from dataclasses import dataclass
from datetime import datetime

from roost.core.billing import ledger_queries
from roost.store import Queries


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


class Billables:
    """All that accounts are charged for."""

    def __init__(self, *billables: Billable) -> None:
        self.by_service = {each.service: each for each in billables}


async def begin(db: Queries, billable: Billable, resource_id: int, at: datetime) -> None:
    """Charge for something new from now on (UTC)."""
    await db.execute(
        ledger_queries.first(billable.service, billable.state),
        resource_id,
        at.replace(microsecond=0),
    )


async def record(db: Queries, billable: Billable, resource_id: int, at: datetime) -> None:
    """Charge for what it is from now on, if that is something else; for nothing when it is gone."""
    await db.execute(
        ledger_queries.of_one(billable.service, billable.state),
        resource_id,
        at.replace(microsecond=0),
    )


async def end(db: Queries, billable: Billable, resource_id: int, at: datetime) -> None:
    """Charge for nothing from now on, although it is still there: what is foreseen of a job."""
    nothing = f"select * from ({billable.state}) s where false"  # noqa: S608 - constants
    await db.execute(
        ledger_queries.of_one(billable.service, nothing), resource_id, at.replace(microsecond=0)
    )


async def record_all(db: Queries, billable: Billable, at: datetime) -> None:
    """Note the state of all things of a kind, after prices have changed."""
    await db.execute(
        ledger_queries.of_all(billable.service, billable.state), at.replace(microsecond=0)
    )
