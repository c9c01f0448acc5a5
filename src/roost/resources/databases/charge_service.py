"""What accounts are charged for managed databases."""

from datetime import datetime

from roost.core.billing.ledger import record
from roost.resources.databases.queries import CHARGED
from roost.store import Queries


async def charge(db: Queries, database_id: int, at: datetime) -> None:
    """For what it is from now on (UTC), of whichever kind; for nothing when it is gone."""
    for billable in CHARGED.values():
        await record(db, billable, database_id, at)
