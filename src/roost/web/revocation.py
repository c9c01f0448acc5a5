"""Revocation at once: no request with a token passes after the answer that ended it.

Processes remember identities so that most requests need not look theirs up. A process may do so
for `LEASE_SECONDS` after it has asked for the number of the last change, which it does again and
again; a change of identities gets a number when it is committed, and its answer waits until every
registered process has forgotten what was before that number, or cannot remember it any longer.
So a process that is cut off, stopped or dead delays an answer by a lease, and lets nobody in.
Requests pay nothing for it: they compare two times.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from time import monotonic
from uuid import uuid4

import structlog

from roost.core import revocation_queries as queries
from roost.store import FAULTS, Queries, Store
from roost.web.auth import Authenticator

LEASE_SECONDS = 2.0
_RENEW_SECONDS = 0.5
_MARGIN_SECONDS = 0.1
"""By which clocks of two machines may differ within a lease."""
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.05

log = structlog.get_logger()


async def settle(db: Queries) -> None:
    """Wait until no process lets anybody in who is refused since a change that is committed.

    Milliseconds as a rule, `LEASE_SECONDS` when a process does not answer.
    """
    await _wait(db, await queries.announce(db))


class Revocations:
    """Keeps what an Authenticator remembers as true as all others rely on."""

    def __init__(self, store: Store, authenticator: Authenticator) -> None:
        self.authenticator = authenticator
        self._store = store
        self._id = uuid4()
        self._seen: int | None = None
        self._changed = asyncio.Event()

    @contextlib.asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Let the authenticator remember identities until the end of the block."""
        await self._store.listen(queries.CHANNEL, self._hear)
        task = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            self.authenticator.trust_until(0)
            with contextlib.suppress(*FAULTS):
                await queries.unregister(self._store, self._id)

    async def settle(self) -> None:
        """Settle as the function does, when this process need not be told."""
        epoch = await queries.announce(self._store)
        self.authenticator.forget()
        await queries.acknowledge(self._store, self._id, epoch)
        await _wait(self._store, epoch)

    def _hear(self, _payload: str) -> None:
        self.authenticator.forget()
        self._changed.set()

    async def _follow(self) -> None:
        while True:
            self._changed.clear()
            try:
                await self._renew()
            except FAULTS as error:
                log.warning("identities_not_followed", error=repr(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_RENEW_SECONDS):
                    await self._changed.wait()

    async def _renew(self) -> None:
        """A lease counts from before the question: what is announced later waits for its end."""
        asked = monotonic()
        epoch, registered = await queries.look(self._store, self._id)
        if not registered:
            self._seen = None
            await queries.register(self._store, self._id)
            epoch, _ = await queries.look(self._store, self._id)
        if epoch != self._seen:
            self.authenticator.forget()
            if not await queries.acknowledge(self._store, self._id, epoch):
                return
            self._seen = epoch
        self.authenticator.trust_until(asked + LEASE_SECONDS)


async def _wait(db: Queries, epoch: int) -> None:
    deadline = monotonic() + LEASE_SECONDS + _MARGIN_SECONDS
    pause = _FIRST_PAUSE
    while await queries.is_awaited(db, epoch):
        if monotonic() > deadline:
            await queries.drop_late(db, epoch)
            return
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
