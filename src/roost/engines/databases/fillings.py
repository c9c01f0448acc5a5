"""Noticing data that take all of their plan's disk, before they take much more.

What is far from full is measured seldom: no server writes the rest before the next look.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import structlog

from roost.engines.databases.folder import Folder, ids_in
from roost.resources.databases.engine import most_data, temporary_room
from roost.threads import DISK

_LEAST_SECONDS, _MOST_SECONDS = 0.25, 60.0
"""Between two looks at the same database."""
_OVERFULL_SECONDS = 1.0
"""The same where nobody may write any more."""
_FASTEST = 2000
"""MB a second that a server writes at most, into memory first."""

_ROOM, _FULL, _OVERFULL = range(3)

_log = structlog.get_logger(__name__)


class Fillings:
    """Which databases of one region fill their disks."""

    def __init__(self, root: Path, primary: Callable[[int], Folder]) -> None:
        """`primary`: the node of a database whose disk counts."""
        self._root = root
        self._primary = primary
        self._due: dict[int, float] = {}
        self._levels: dict[int, int] = {}

    async def listen(self) -> AsyncGenerator[int, None]:
        """The ids of databases that become full, once each time."""
        self._due.clear()
        self._levels.clear()
        while True:
            try:
                fresh = await DISK.run(self._look)
            except OSError as error:  # A database is being deleted.
                _log.info("databases_not_measured", error=str(error))
            else:
                for database_id in fresh:
                    yield database_id
            await asyncio.sleep(_LEAST_SECONDS)

    def _look(self) -> list[int]:
        """Measure the databases that are due; those that have filled up since."""
        there, now = set(ids_in(self._root)), time.monotonic()
        self._due = {each: due for each, due in self._due.items() if each in there}
        self._levels = {each: level for each, level in self._levels.items() if each in there}
        fresh = []
        for database_id in sorted(there):
            if self._due.get(database_id, now) <= now and self._measure(database_id, now):
                fresh.append(database_id)
        return fresh

    def _measure(self, database_id: int, now: float) -> bool:
        """Whether it has become full, or has gone on until nobody may write."""
        node = self._primary(database_id)
        disk = node.disk
        if disk is None:
            return False
        used = node.used()
        self._due[database_id] = now + _seconds(used, disk)
        former = self._levels.get(database_id, _ROOM)
        level = self._levels[database_id] = _level(used, disk)
        return level > former


def _level(used: int, disk: int) -> int:
    """How full a disk is with so many MB of data."""
    if used < disk - temporary_room(disk):
        return _ROOM
    return _FULL if used < most_data(disk) else _OVERFULL


def _seconds(used: int, disk: int) -> float:
    """Until the next look."""
    level = _level(used, disk)
    if level == _OVERFULL:
        return _OVERFULL_SECONDS
    bound = disk - temporary_room(disk) if level == _ROOM else most_data(disk)
    return min(_MOST_SECONDS, max(_LEAST_SECONDS, (bound - used) / _FASTEST))
