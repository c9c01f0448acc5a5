"""Handing messages over: in order, at least once, and no receiver in the way of another one.

A webhook's position is how far its receiver has taken the account's changes. One process at a time
has it; what was handed over is written behind the answer, so that a process that is killed leaves
the message to the next one. A message that is not taken is tried again before any later one.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import orjson
import structlog

from roost.clock import Clock
from roost.core.events import change_queries, log
from roost.core.events.feed import order
from roost.core.events.log import Starter
from roost.core.hosts import queries as host_queries
from roost.jobs.queue import JobQueue
from roost.resources.events.records import EventRow
from roost.resources.events.stream_service import told
from roost.resources.webhooks import delivery_queries as queries
from roost.resources.webhooks import rules
from roost.resources.webhooks.delivery_queries import Due
from roost.resources.webhooks.engine import DeliveryError, Receivers
from roost.resources.webhooks.entity import WEBHOOK
from roost.secrets import Box
from roost.shares import on_behalf_of
from roost.store import FAULTS, Store
from roost.web.revisions.revisions import Revisions

_LOOK_SECONDS = 1.0
_AT_ONCE, _OF_ACCOUNT, _OF_HOST = 500, 5, 20
"""Messages on their way from this process: in all, of an account, to a receiver's host."""
_CLAIM = timedelta(seconds=60)
"""Longer than a message may take with all that is around it."""
_BATCH = 100
"""Events of a message."""
_LATER = timedelta(seconds=2)

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Message:
    """What a webhook is told next."""

    body: bytes
    position: int
    ids: Sequence[int]
    """Of its events."""


class Deliveries:
    """All that this process hands over."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        queue: JobQueue,
        box: Box,
        receivers: Receivers,
        revisions: Revisions,
    ) -> None:
        self._store = store
        self._clock = clock
        self._queue = queue
        self._box = box
        self._receivers = receivers
        self._revisions = revisions
        self._running = 0
        self._accounts: Counter[int] = Counter()
        self._hosts: Counter[str] = Counter()

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                try:
                    await self._begin(tasks)
                except FAULTS as error:
                    _log.warning("webhooks_not_looked_for", error=repr(error))
                await asyncio.sleep(_LOOK_SECONDS)

    async def _begin(self, tasks: asyncio.TaskGroup) -> None:
        if not await queries.any_enabled(self._store):
            return
        await order(self._store)
        now, claimant = self._clock.now(), uuid4()
        full = [id_ for id_, count in self._accounts.items() if count >= _OF_ACCOUNT]
        room = _AT_ONCE - self._running
        for due in await queries.claim(
            self._store, claimant, now + _CLAIM, now, full, max(0, room)
        ):
            host = urlsplit(due.url).hostname or ""
            if self._accounts[due.account_id] >= _OF_ACCOUNT or self._hosts[host] >= _OF_HOST:
                await queries.release(self._store, due.id, claimant, now + _LATER)
                continue
            self._running += 1
            self._accounts[due.account_id] += 1
            self._hosts[host] += 1
            tasks.create_task(self._counted(due, host, claimant))

    async def _counted(self, due: Due, host: str, claimant: UUID) -> None:
        try:
            await self._deliver(due, claimant)
        except FAULTS as error:
            _log.warning("webhook_not_told", webhook=due.id, error=repr(error))
        except Exception as error:
            _log.error("webhook_failed", webhook=due.id, exc_info=error)
        finally:
            self._running -= 1
            self._accounts -= Counter([due.account_id])
            self._hosts -= Counter([host])

    async def _deliver(self, due: Due, claimant: UUID) -> None:
        message = await self._next(due)
        if not message.ids:
            await queries.advance(self._store, due.id, claimant, message.position)
            return
        began = time.perf_counter()
        outcome: int | DeliveryError
        try:
            headers = self._headers(due, message)
            hosts = await host_queries.addresses(self._store)
            with on_behalf_of(due.account_id):
                outcome = await self._receivers.post(due.url, headers, message.body, hosts)
        except DeliveryError as error:
            outcome = error
        await self._note(due, claimant, message, outcome, time.perf_counter() - began)

    async def _next(self, due: Due) -> _Message:
        until = await change_queries.last_position(self._store)
        page = await change_queries.list_of_account(
            self._store, due.account_id, due.position, until, _BATCH
        )
        last = {each.event_id: each.position for each in page}
        shown = await told(self._store, self._clock, list(last))
        said = await self._speaker(due.revision)
        events = [
            (position, shown[event_id])
            for event_id, position in sorted(last.items(), key=lambda item: item[1])
            if event_id in shown
            and (not due.actions or shown[event_id].action in due.actions)
            and (not due.entity_types or shown[event_id].entity_type in due.entity_types)
        ]
        body = orjson.dumps(
            {
                "webhook_id": due.id,
                "events": [
                    {"position": position, "event": orjson.Fragment(said(event.record.encode()))}
                    for position, event in events
                ],
            }
        )
        position = page[-1].position if len(page) == _BATCH else until
        return _Message(body, position, [event.id for _, event in events])

    async def _speaker(self, revision: str) -> Callable[[bytes], bytes]:
        """What puts an event in the webhook's revision."""
        if revision == self._revisions.newest or revision not in self._revisions.known:
            return lambda record: record
        spoken = await self._revisions.spoken(revision)
        return partial(spoken.record, EventRow.__name__)

    def _headers(self, due: Due, message: _Message) -> dict[str, str]:
        keys = [due.secret]
        if due.former_secret is not None and due.former_until is not None:
            keys += [due.former_secret] if due.former_until > self._clock.now() else []
        opened = [self._box.open(key).decode() for key in keys]
        # The same for each attempt at the same events.
        message_id = f"{due.id}-{due.position}-{message.position}"
        return rules.headers(opened, message_id, int(time.time()), message.body)

    async def _note(
        self,
        due: Due,
        claimant: UUID,
        message: _Message,
        outcome: int | DeliveryError,
        seconds: float,
    ) -> None:
        now = self._clock.now()
        failure = outcome if isinstance(outcome, DeliveryError) else None
        async with self._store.transaction() as db:
            if failure is None:
                await queries.advance(db, due.id, claimant, message.position)
            elif due.failing_since is None or now < due.failing_since + rules.GIVEN_UP_AFTER:
                at = now + rules.pause(due.attempts + 1, random.random())
                await queries.retry(db, due.id, claimant, str(failure), at, now)
            elif await queries.give_up(db, due.id, claimant, f"Failed for a day: {failure}"):
                by = Starter(self._queue, db, due.account_id)
                entity = WEBHOOK.entity(due.id, due.label)
                await log.notify(by, "webhook_disable", entity, message=str(failure))
            await queries.add_delivery(
                db,
                due.id,
                now.replace(microsecond=0),
                "delivered" if failure is None else "failed",
                due.attempts + 1,
                len(message.ids),
                message.ids[0],
                message.ids[-1],
                outcome.code if isinstance(outcome, DeliveryError) else outcome,
                None if failure is None else str(failure),
                round(seconds, 3),
            )
