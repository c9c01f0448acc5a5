"""Streams of events: who reads them in this process, and how far each has come."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from time import monotonic

import structlog

from roost.clock import Clock
from roost.core.context import Context
from roost.core.entities.registry import Entities
from roost.core.events import change_queries as changes
from roost.core.events.change_queries import Change
from roost.core.events.feed import Feed
from roost.core.revocation_queries import CHANNEL
from roost.resources.events import stream_queries
from roost.resources.events.heartbeat_service import HEARTBEAT_SECONDS, Heartbeats
from roost.resources.events.queries import KEPT
from roost.resources.events.reader_service import Readers, Stream, Tokens, Trust
from roost.resources.events.service import sees_all, visible_to
from roost.resources.events.stream_rules import (
    OPENING,
    Shown,
    Wanted,
    mark,
    message,
    reset,
    too_many,
)
from roost.store import FAULTS, Queries, Store

MOST_EACH = 100
"""Streams of an account in a process."""
_WAITING = 256
"""Events that wait for a reader in memory; one who is slower reads them from the database."""
_PAGE = 200
"""Changes that are read at once for one who is behind."""
_PAGES = 5
_CHECK_SECONDS = 0.2
"""After tokens or users have changed: those who change many are looked at once."""

Write = Callable[[bytes], Awaitable[None]]

_log = structlog.get_logger(__name__)


class Streams:
    """All of this process."""

    def __init__(self, feed: Feed, most: int) -> None:
        """`most`: at once."""
        self._feed = feed
        self._feed.follow(self._take)
        self._most = most
        self.count = 0
        self._by_account: dict[int, set[Stream]] = {}
        self._position = 0
        self._heartbeats = Heartbeats()
        self._store: Store
        self._readers: Readers
        self._checking: asyncio.Task[None] | None = None
        self._ending = False

    @asynccontextmanager
    async def open(
        self, store: Store, clock: Clock, tokens: Tokens, trust: Trust
    ) -> AsyncIterator[None]:
        """Let others read until the end of the block."""
        self._store, self._readers = store, Readers(clock, tokens, trust)
        revoked = asyncio.Event()
        await store.listen(CHANNEL, lambda _payload: revoked.set())
        self._checking = asyncio.create_task(self._check_idle(revoked))
        try:
            async with self._heartbeats.beating(), self._feed.open(store):
                yield
        finally:
            self._checking.cancel()

    def end_all(self) -> None:
        """The server stops; clients come back to another one, or to its next start."""
        self._ending = True
        self._feed.end()
        for stream in self._all():
            stream.end()

    @asynccontextmanager
    async def reading(
        self, context: Context, wanted: Wanted, last: int | None
    ) -> AsyncIterator[Stream]:
        """A stream that begins after a position, or with what comes from now on.

        ApiError 429 when the account or the process has too many.
        """
        identity = context.identity
        of_account = self._by_account.get(identity.account_id, set())
        if self._ending or len(of_account) >= MOST_EACH or self.count >= self._most:
            raise too_many()
        turn = next((each.turn for each in of_account), None) or asyncio.Lock()
        stream = Stream(identity, wanted, last or 0, turn)
        self._by_account[identity.account_id] = of_account
        of_account.add(stream)
        self.count += 1
        try:
            async with self._feed.awaited(identity.account_id):
                with self._heartbeats.of(stream):
                    yield stream
        finally:
            self.count -= 1
            of_account.discard(stream)
            if not of_account:
                del self._by_account[identity.account_id]

    async def open_stream(self, context: Context, stream: Stream, last: int | None) -> bytes:
        """What comes first."""
        newest = await changes.last_of_account(context.db, context.account_id)
        until = self._position
        if last is None:
            stream.position = until
            return OPENING + mark(newest)
        # Another process may have told what this one is about to read.
        if last > until and last > await changes.last_position(context.db):
            stream.position = until
            return OPENING + reset(until)
        return OPENING + mark(last)

    async def write(
        self, context: Context, stream: Stream, seconds: float | None, write: Write
    ) -> None:
        """Events as they come, until the token ends, the time is over or the server stops."""
        ends = None if seconds is None else monotonic() + seconds
        entities = context.get(Entities)
        while not stream.ended and (ends is None or monotonic() < ends):
            stream.wake.clear()
            if stream.behind:
                data = await self._catch_up(context.db, stream, entities)
            else:
                data = _drained(stream)
            if data:
                await write(data)
            elif not stream.behind and (stream.is_due or not await _woken(stream, ends)):
                stream.is_due = False
                if self._readers.has_expired(stream):
                    return
                await write(mark(max(stream.position, self._reached(stream))))

    async def missed(self, context: Context, stream: Stream) -> AsyncIterator[bytes]:
        """What has been committed since its position, up to a thousand changes, and how far that
        is: whoever wants few of them shall get on, too."""
        entities = context.get(Entities)
        for _ in range(_PAGES):
            if stream.behind and not stream.ended:
                yield await self._catch_up(context.db, stream, entities)
        yield mark(stream.position)

    async def _catch_up(self, db: Queries, stream: Stream, entities: Entities) -> bytes:
        async with stream.turn:
            return await self._read_on(db, stream, entities)

    async def _read_on(self, db: Queries, stream: Stream, entities: Entities) -> bytes:
        until = self._position
        if await self._is_over(stream):
            return b""
        identity = stream.identity
        account = identity.account_id
        page = await changes.list_of_account(db, account, stream.position, until, _PAGE)
        visible = visible_to(identity, entities, self._readers.clock)
        ids = list({each.event_id for each in page})
        shown = await stream_queries.shown(db, visible, ids) if ids else {}
        if await self._is_over(stream):
            return b""
        found = [(p, shown[e]) for e, p in _latest(page).items() if e in shown]
        if len(page) == _PAGE:
            stream.position = page[-1].position
        else:
            stream.position = max(stream.position, until)
            # Without a pause since the look: what comes later is told.
            stream.behind = self._position > until
            stream.waiting.clear()
        return b"".join(
            message(p, e) for p, e in sorted(found, key=_first) if stream.wanted.takes(e)
        )

    async def _take(self, batch: Sequence[Change], position: int) -> None:
        """Give a batch of changes to the streams that want them."""
        concerned = [each for each in batch if each.account_id in self._by_account]
        ids = list({each.event_id for each in concerned})
        shown = await told(self._store, self._readers.clock, ids)
        if concerned:
            streams = [s for id_ in {c.account_id for c in concerned} for s in self._of(id_)]
            await self._readers.check(streams)
        self._position = position
        for event_id, change in _last(concerned).items():
            if event_id in shown:
                self._give(change, shown[event_id])

    def _give(self, change: Change, event: Shown) -> None:
        data: bytes | None = None
        for stream in self._of(change.account_id):
            if stream.behind or stream.ended or not stream.wanted.takes(event):
                continue
            if change.position <= stream.position:
                continue
            if not sees_all(stream.identity) or len(stream.waiting) >= _WAITING:
                # What is hidden from whom only the database knows.
                stream.behind = True
                stream.waiting.clear()
            else:
                data = data or message(change.position, event)
                stream.waiting.append((change.position, data))
            stream.wake.set()

    def _reached(self, stream: Stream) -> int:
        """How far a stream is on which nothing waits."""
        return stream.position if stream.behind or stream.waiting else self._position

    def _of(self, account_id: int) -> tuple[Stream, ...]:
        return tuple(self._by_account.get(account_id, ()))

    def _all(self) -> Sequence[Stream]:
        return [stream for streams in self._by_account.values() for stream in streams]

    async def _check_idle(self, revoked: asyncio.Event) -> None:
        """Those to whom nothing happens end, too, when their token does; where nobody may have told
        of it, as soon as they are looked at."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await revoked.wait()
            revoked.clear()
            await asyncio.sleep(_CHECK_SECONDS)
            try:
                await self._readers.check(self._all())
            except FAULTS as error:
                _log.warning("streams_not_checked", error=repr(error))
                revoked.set()

    async def _is_over(self, stream: Stream) -> bool:
        await self._readers.check([stream])
        return stream.ended


async def told(db: Queries, clock: Clock, ids: Sequence[int]) -> dict[int, Shown]:
    """Events by their ids, as unrestricted users of their accounts see them."""
    return await stream_queries.shown_of_all(db, clock.now() - KEPT, ids) if ids else {}


def _first(item: tuple[int, Shown]) -> int:
    return item[0]


def _drained(stream: Stream) -> bytes:
    """All that waits, as one piece."""
    found = list(stream.waiting)
    stream.waiting.clear()
    if found:
        stream.position = found[-1][0]
    return b"".join(data for _, data in found)


async def _woken(stream: Stream, ends: float | None) -> bool:
    """Whether something has come, or a heartbeat is due, before the stream ends."""
    if ends is None:
        return await stream.wake.wait()
    try:
        async with asyncio.timeout(max(0, ends - monotonic())):
            return await stream.wake.wait()
    except TimeoutError:
        return False


def _latest(page: Iterable[Change]) -> dict[int, int]:
    """The last position of each event: an event is shown as it is now."""
    return {each.event_id: each.position for each in page}


def _last(batch: Iterable[Change]) -> dict[int, Change]:
    """The last change of each event, in their order."""
    found: dict[int, Change] = {}
    for each in batch:
        found.pop(each.event_id, None)
        found[each.event_id] = each
    return found
