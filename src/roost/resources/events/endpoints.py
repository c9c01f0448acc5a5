"""What the API offers: the account's events of the last 90 days (spec B, Events)."""

from dataclasses import replace
from datetime import datetime

from roost.resources.events import queries
from roost.resources.events.records import EventRow
from roost.web.call import Call
from roost.web.registry import Page, endpoint

_SCOPE = ("events:read_only",)


@endpoint(
    "GET",
    "/account/events",
    scopes=_SCOPE,
    returns=Page(EventRow),
    filters=queries.EVENTS.columns,
)
async def list_events(call: Call) -> bytes:
    """List events, newest first.

    Of the last 90 days. Restricted users see those of what is granted to them, and their own.
    """
    listing = replace(queries.EVENTS, granted=_needed_grant(call))
    return await call.collection(listing, *_scope(call))


@endpoint("GET", "/account/events/{eventId:int}", scopes=_SCOPE, returns=EventRow)
async def view_event(call: Call) -> bytes:
    """View an event.

    How far something is that takes time: ask until its `status` is `finished` or `failed`.
    """
    return await _view(call)


@endpoint("POST", "/account/events/{eventId:int}/read", scopes=_SCOPE)
async def mark_event_read(call: Call) -> None:
    """Mark an event as read.

    Its `read` becomes true.
    """
    await _view(call)
    await queries.mark_read(call.db, call.number("eventId"))


@endpoint("POST", "/account/events/{eventId:int}/seen", scopes=_SCOPE)
async def mark_event_seen(call: Call) -> None:
    """Mark an event and all before it as seen, of those that you see.

    Their `seen` becomes true.
    """
    await _view(call)
    grantee = None
    if call.identity.restricted and _needed_grant(call) is not None:
        grantee = call.identity.user_id
    await queries.mark_seen(call.db, *_scope(call), call.number("eventId"), grantee)


async def _view(call: Call) -> bytes:
    listing = replace(queries.EVENTS, granted=_needed_grant(call))
    return await call.record(call.number("eventId"), listing, *_scope(call))


def _scope(call: Call) -> tuple[int, datetime]:
    return call.account_id, call.clock.now() - queries.KEPT


def _needed_grant(call: Call) -> tuple[str, str] | None:
    """A restricted user without account access sees what happened to entities granted to them."""
    return None if call.identity.account_access else queries.EVENTS.granted
