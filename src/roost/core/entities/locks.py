"""Holding what a change binds to each other: the rows of things, each with its account.

A thing can go to another account, be deleted or change its state at any time. Whoever writes that
two things belong together has found both by their ids before, so both rows are locked, with the
account in the condition: what has gone meanwhile is not found, and what is found stays so.
"""

from collections.abc import Collection

from roost.core.entities.kind import ResourceKind
from roost.core.entities.queries import entities_sql
from roost.store import Queries


async def lock_all(
    db: Queries, kind: ResourceKind, account_id: int, ids: Collection[int]
) -> set[int]:
    """Those of the ids that the account has; they stay as they are until the transaction ends.

    Nobody else deletes them, gives them away or binds them to something meanwhile. They are locked
    by id, so that two who lock some of the same wait for each other in one order.
    """
    key = kind.listing.key
    rows = await db.fetch(
        f"{entities_sql(kind)} and {key} = any($2) order by {key} for no key update",
        account_id,
        sorted(set(ids)),
    )
    return {row["id"] for row in rows}
