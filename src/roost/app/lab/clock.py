"""A clock that the lab moves, kept in the database for all processes and for the next start."""

import asyncio
from datetime import UTC, datetime, timedelta

from roost.app.lab import queries
from roost.app.lab.queries import Offset
from roost.clock import Clock
from roost.errors import invalid
from roost.jobs.queries import READY
from roost.settings import Settings
from roost.store import Queries, Store, notify

_CHANNEL = "lab_clock"

_END = datetime(9000, 1, 1)
"""Later times leave no room for deadlines and expiry dates."""


class LabClock(Clock):
    """Follows the offset in the database, whichever process changes it."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._version = -1
        self._reloads: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, store: Store) -> "LabClock":
        clock = cls(store)
        await store.listen(_CHANNEL, clock._on_move)
        await queries.add_offset(store)
        await clock._reload()
        return clock

    async def move_to(self, time: datetime) -> None:
        """Go on from `time`; a second that has begun counts as now. ApiError 400 when it is past.

        Jobs and schedules that have become due run at once.
        """
        async with self._store.transaction() as db:
            held = await queries.lock_offset(db)
            seconds = (time - datetime.now(UTC).replace(tzinfo=None)).total_seconds()
            if seconds <= held.offset_seconds - 1:
                raise invalid(
                    "The clock only moves forwards; reset or load a state to go back", "now"
                )
            moved = await self._move(db, max(seconds, held.offset_seconds), "now")
        self.follow(moved)

    async def advance_by(self, seconds: float) -> None:
        """Skip `seconds`, and run what has become due."""
        async with self._store.transaction() as db:
            held = await queries.lock_offset(db)
            moved = await self._move(db, held.offset_seconds + seconds, "advance")
        self.follow(moved)

    async def put(self, db: Queries, offset: timedelta) -> Offset:
        """Change the offset, also backwards, in a transaction that replaces the whole state.

        Call `follow` with the answer when that has committed.
        """
        return await self._save(db, offset.total_seconds())

    def follow(self, moved: Offset) -> None:
        """Go by `moved`, unless a later move is known."""
        if moved.version > self._version:
            self._version = moved.version
            self.offset = timedelta(seconds=moved.offset_seconds)

    async def _move(self, db: Queries, seconds: float, field: str) -> Offset:
        room = _END - datetime.now(UTC).replace(tzinfo=None)
        if seconds >= room.total_seconds():
            raise invalid(f"Must not lead beyond {_END:%Y-%m-%d}", field)
        return await self._save(db, seconds)

    async def _save(self, db: Queries, seconds: float) -> Offset:
        moved = await queries.save_offset(db, seconds, self._version)
        # Notifications of one transaction arrive in this order: workers look at the new time.
        await notify(db, _CHANNEL, moved.model_dump_json())
        await notify(db, READY)
        return moved

    def _on_move(self, payload: str) -> None:
        if payload:
            self.follow(Offset.model_validate_json(payload))
            return
        task = asyncio.create_task(self._reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def _reload(self) -> None:
        self.follow(await queries.find_offset(self._store))


async def clock_beside(settings: Settings, db: Queries) -> Clock:
    """The clock of a command beside a server: the lab's, where the server has one."""
    if not settings.lab:
        return Clock()
    await queries.add_offset(db)
    return Clock(timedelta(seconds=(await queries.find_offset(db)).offset_seconds))
