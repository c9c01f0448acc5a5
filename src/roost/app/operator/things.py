"""What groups list for operators, one of them with all that is known of it."""

from roost.app.operator.happenings import last_events, unfinished_jobs
from roost.app.terminal import Shown
from roost.core.listed_queries import Listed, find_row
from roost.errors import OperatorError
from roost.store import Queries


class UnknownError(OperatorError):
    """There is none of this id."""


async def describe(db: Queries, listed: Listed, key: int) -> Shown:
    """Raises UnknownError."""
    found = await find_row(db, listed, key)
    if found is None:
        raise UnknownError(f"there is no {listed.name} {key}")
    told: Shown = {}
    if listed.entity is not None:
        told = {"last_events": await last_events(db, found.account_id, listed.entity, key)}
    return {**found.row, "jobs": await unfinished_jobs(db, found.resource), **told}
