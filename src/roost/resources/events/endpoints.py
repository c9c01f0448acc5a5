"""What the API offers: the account's events of the last 90 days (spec B, Events)."""

from datetime import datetime

from roost.errors import not_found
from roost.resources.events import queries
from roost.resources.events.records import EventRow
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Read
from roost.web.registry import Page, endpoint

_SCOPE = ("events:read_only",)
_GRANT = Read("account")


def _since(call: Call) -> datetime:
    return call.clock.now() - queries.KEPT


@endpoint(
    "GET",
    "/account/events",
    scopes=_SCOPE,
    grant=_GRANT,
    returns=Page(EventRow),
    filters=queries.EVENTS.columns,
)
async def list_events(call: Call) -> bytes:
    """List events, newest first."""
    return await call.collection(queries.EVENTS, call.account_id, _since(call))


@endpoint("GET", "/account/events/{eventId:int}", scopes=_SCOPE, grant=_GRANT, returns=EventRow)
async def view_event(call: Call) -> bytes:
    """View an event."""
    scope = (call.account_id, _since(call))
    return await fetch_record(call.db, queries.EVENTS, scope, call.number("eventId"))


@endpoint("POST", "/account/events/{eventId:int}/read", scopes=_SCOPE, grant=_GRANT)
async def mark_event_read(call: Call) -> None:
    """Mark an event as read."""
    await _must_exist(call)
    await queries.mark_read(call.db, call.number("eventId"))


@endpoint("POST", "/account/events/{eventId:int}/seen", scopes=_SCOPE, grant=_GRANT)
async def mark_event_seen(call: Call) -> None:
    """Mark an event and all before it as seen."""
    await _must_exist(call)
    await queries.mark_seen(call.db, call.account_id, call.number("eventId"))


async def _must_exist(call: Call) -> None:
    event_id = call.number("eventId")
    if not await queries.exists(call.db, call.account_id, _since(call), event_id):
        raise not_found()
