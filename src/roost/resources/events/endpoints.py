"""What the API offers: the account's events of the last 90 days (spec B events)."""

from roost.core.entities.registry import Entities
from roost.resources.events import queries
from roost.resources.events.queries import EVENTS, SEEN_BY_RESTRICTED, Visible
from roost.resources.events.records import EventRow
from roost.web.call import Call
from roost.web.registry import Page, endpoint

_SCOPE = ("events:read_only",)


@endpoint(
    "GET",
    "/account/events",
    scopes=_SCOPE,
    returns=Page(EventRow),
    filters=EVENTS.columns,
)
async def list_events(call: Call) -> bytes:
    """List events, newest first.

    Of the last 90 days. Restricted users see those of what is granted to them, and their own.
    """
    visible = _visible(call)
    return await call.collection(visible.listing, *visible.arguments)


@endpoint("GET", "/account/events/{eventId:int}", scopes=_SCOPE, returns=EventRow)
async def view_event(call: Call) -> bytes:
    """View an event.

    How far something is that takes time: ask until its `status` is `finished` or `failed`.
    """
    return await _view(call, _visible(call))


@endpoint("POST", "/account/events/{eventId:int}/read", scopes=_SCOPE)
async def mark_event_read(call: Call) -> None:
    """Mark an event as read.

    Its `read` becomes true.
    """
    await _view(call, _visible(call))
    await queries.mark_read(call.db, call.number("eventId"))


@endpoint("POST", "/account/events/{eventId:int}/seen", scopes=_SCOPE)
async def mark_event_seen(call: Call) -> None:
    """Mark an event and all before it as seen, of those that you see.

    Their `seen` becomes true.
    """
    visible = _visible(call)
    await _view(call, visible)
    await queries.mark_seen(call.db, visible, call.number("eventId"))


async def _view(call: Call, visible: Visible) -> bytes:
    return await call.record(call.number("eventId"), visible.listing, *visible.arguments)


def _visible(call: Call) -> Visible:
    """All of the account, for restricted users by their grants (spec B account events grants)."""
    identity = call.identity
    scope = identity.account_id, call.clock.now() - queries.KEPT
    if not identity.restricted:
        return Visible(EVENTS, scope)
    kinds = [kind.name for kind in call.get(Entities).resources() if kind.grantable]
    looks = identity.account_access is not None
    return Visible(SEEN_BY_RESTRICTED, (*scope, identity.user_id, kinds, looks))
