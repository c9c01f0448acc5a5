"""`?wait=SECONDS`: an answer that comes when there is another one than now."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic

import orjson

from roost.core.events.feed import Feed
from roost.errors import invalid
from roost.web.registry import Endpoint
from roost.web.reply import Reply
from roost.web.versions import IF_NONE_MATCH, Wanted, tag_of

WAIT = "wait"
MOST_SECONDS = 60
_LOOK_SECONDS = 2.0
"""Between two looks where no event tells of a change."""
_PAUSE_SECONDS = 0.1
"""Between two looks because of events."""


def parse_wait(endpoint: Endpoint, query: Mapping[str, str]) -> int:
    """Seconds to wait at most; 0 where nobody asks for it. ApiError 400 where that can't be."""
    text = query.get(WAIT)
    if text is None:
        return 0
    if not endpoint.can_wait:
        raise invalid("This operation does not wait", WAIT)
    if not (text.isascii() and text.isdecimal() and len(text) <= 2 and int(text) <= MOST_SECONDS):
        raise invalid(f"Must be 0-{MOST_SECONDS}", WAIT)
    return int(text)


async def until_changed(
    feed: Feed,
    account_id: int,
    seconds: int,
    known: str | None,
    ask: Callable[[], Awaitable[Reply]],
) -> Reply:
    """The answer as soon as it shows another status, or the last one.

    At once when it is none of those that the client has, by its `If-None-Match`.
    """
    ends = monotonic() + seconds
    reply = await ask()
    if known is not None and not Wanted(known, IF_NONE_MATCH).is_like(tag_of(reply)):
        return reply
    first = _status(reply)
    async with feed.awaited(account_id) as changed:
        while not feed.has_ended and (left := ends - monotonic()) > 0:
            changed.clear()
            reply = await ask()
            if _status(reply) != first:
                break
            await asyncio.sleep(min(left, _PAUSE_SECONDS))
            try:
                async with asyncio.timeout(min(left, _LOOK_SECONDS)):
                    await changed.wait()
            except TimeoutError:
                pass
    return reply


def _status(reply: Reply) -> object:
    """What a client waits for: the status of a record, or of each of a list."""
    body = orjson.loads(reply.body)
    rows = body.get("data")
    if rows is None:
        return body["status"]
    return [(row["id"], row["status"], row["percent_complete"]) for row in rows]
