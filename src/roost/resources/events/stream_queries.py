"""SQL of events as streams show them."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from roost.resources.events.queries import EVENTS, Visible
from roost.resources.events.stream_rules import Shown
from roost.store import Queries

_OF_ALL = replace(EVENTS, scope="$1::bigint is null and e.created > $2")


async def shown(db: Queries, visible: Visible, ids: Sequence[int]) -> dict[int, Shown]:
    """Those of some events that somebody sees."""
    listing, arguments = visible.listing, visible.arguments
    rows = await db.fetch(
        f"""
        select e.id, e.action, e.status, e.entity_type, e.entity_id,
            {listing.record_text} as record
        from {listing.source} where ({listing.scope}) and e.id = any(${len(arguments) + 1})
        """,
        *arguments,
        ids,
    )
    return {row["id"]: Shown(**dict(row)) for row in rows}


async def shown_of_all(db: Queries, since: datetime, ids: Sequence[int]) -> dict[int, Shown]:
    """Events of all accounts after a time, as unrestricted users see them."""
    return await shown(db, Visible(_OF_ALL, (None, since)), ids)
