"""When backups are made, and which of them are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args

from roost.resources.compute.records import Day, Window

WINDOW = timedelta(hours=2)

_DAYS: tuple[Day, ...] = get_args(Day)[1:]
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Kept:
    """What decides whether an automatic backup is kept."""

    id: int
    created: datetime


def window_at(now: datetime) -> tuple[Window, int, datetime]:
    """The window that is open: its name, its number (0 to 11), and when it opened."""
    number = now.hour // 2
    opened = now.replace(hour=number * 2, minute=0, second=0, microsecond=0)
    windows: tuple[Window, ...] = get_args(Window)[1:]
    return windows[number], number, opened


def outdated(backups: Sequence[Kept], day: str | None, compute_id: int, now: datetime) -> list[int]:
    """The automatic backups to remove, of those that are successful.

    Kept are the newest, the newest of the chosen week day, and the newest of that day that is more
    than a week old but not more than two.
    """
    weekly = _DAYS.index(day) if day in _DAYS else compute_id % len(_DAYS)
    newest_first = sorted(backups, key=lambda backup: (backup.created, backup.id), reverse=True)
    kept = {backup.id for backup in newest_first[:1]}
    of_day = [backup for backup in newest_first if backup.created.isoweekday() % 7 == weekly]
    for oldest, newest in ((_WEEK, timedelta()), (2 * _WEEK, _WEEK)):
        week = [b.id for b in of_day if newest <= now - b.created < oldest]
        kept.update(week[:1])
    return [backup.id for backup in backups if backup.id not in kept]
