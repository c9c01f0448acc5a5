"""Events of all accounts as they come."""

import asyncio
from collections.abc import AsyncIterator

from roost.core.events.listing_queries import (
    ListedEvent,
    Wanted,
    last_id,
    list_changed,
    list_recent,
)
from roost.jobs.queries import READY
from roost.store import Store

_SECONDS = 1.0
"""Between two looks, unless a job is enqueued."""
_LATE = 1000
"""Ids within which a transaction may commit behind later ones."""
_ENDED = ("finished", "failed", "notification")


async def tail(
    store: Store, wanted: Wanted, limit: int, follow: bool
) -> AsyncIterator[ListedEvent]:
    """The latest events; then, to `follow`, each new one and each change of its status."""
    latest = await last_id(store)
    for event in await list_recent(store, wanted, limit):
        yield event
    if follow:
        async for event in _follow(store, wanted, latest):
            if wanted.status in (None, event.status):
                yield event


async def _follow(store: Store, wanted: Wanted, latest: int) -> AsyncIterator[ListedEvent]:
    changed = asyncio.Event()
    await store.listen(READY, lambda _payload: changed.set())
    mark = max(0, latest - _LATE)
    before = await list_changed(store, wanted, mark, ())
    seen = {event.id: event.status for event in before if event.id <= latest}
    while True:
        open_ids = [each for each, status in seen.items() if status not in _ENDED]
        for event in await list_changed(store, wanted, mark, open_ids):
            if seen.get(event.id) != event.status:
                seen[event.id] = event.status
                yield event
        mark = max(mark, max(seen, default=0) - _LATE)
        seen = {k: status for k, status in seen.items() if k > mark or status not in _ENDED}
        await _wait(changed)


async def _wait(changed: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(_SECONDS):
            await changed.wait()
    except TimeoutError:
        return
    changed.clear()
