"""What the API offers: the account's events of the last 90 days (spec B events)."""

from contextlib import AsyncExitStack

from roost.core.entities.registry import Entities
from roost.resources.events import queries, stream_rules
from roost.resources.events.queries import EVENTS, Visible
from roost.resources.events.records import EventRow
from roost.resources.events.service import visible_to
from roost.resources.events.stream_rules import Wanted, parse_last_id, parse_seconds
from roost.resources.events.stream_service import Streams
from roost.web.call import Call
from roost.web.registry import EVENT_STREAM, Page, Stream, endpoint
from roost.web.reply import Reply, Streamed, Write

_SCOPE = ("events:read_only",)


@endpoint(
    "GET",
    "/account/events",
    scopes=_SCOPE,
    returns=Page(EventRow),
    filters=EVENTS.columns,
    waits=True,
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


@endpoint(
    "GET",
    "/events/stream",
    scopes=_SCOPE,
    query=stream_rules.QUERY,
    returns=Stream(EventRow),
)
async def stream_events(call: Call) -> Reply:
    """Receive events as they come.

    Server-Sent Events: each message is an event of the account as `GET /account/events/{eventId}`
    shows it, sent when it comes and again when its `status`, `percent_complete` or `message`
    changes. After a break send the `id` of the last message as the header `Last-Event-ID`, as
    browsers do: what has happened since comes first. Of changes that come close together the last
    is sent; each event comes at least once, in the order in which they were committed. A message
    `reset` says that the id is not known, as after a backup was restored: read the list anew.
    The stream ends with its token.
    """
    query = call.query or {}
    wanted, seconds = Wanted.of(query), parse_seconds(query)
    last = parse_last_id(call.last_event_id)
    streams = call.get(Streams)
    async with AsyncExitStack() as stack:
        stream = await stack.enter_async_context(streams.reading(call, wanted, last))
        first = await streams.open_stream(call, stream, last)
        if seconds == 0:
            rest = [part async for part in streams.missed(call, stream)] if last else []
            return Reply(200, first + b"".join(rest), content_type=EVENT_STREAM.encode())
        keeping = stack.pop_all()

    async def write(send: Write) -> None:
        await send(first)
        await streams.write(call, stream, seconds, send)

    return Streamed(200, b"", content_type=EVENT_STREAM.encode(), write=write, close=keeping.aclose)


async def _view(call: Call, visible: Visible) -> bytes:
    return await call.record(call.number("eventId"), visible.listing, *visible.arguments)


def _visible(call: Call) -> Visible:
    return visible_to(call.identity, call.get(Entities), call.clock)
