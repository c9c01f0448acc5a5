"""What a database has written since its backups were made: binary logs, kept beside them.

Logs are numbered in the order in which they were written. Those of one server are a segment; where
another one leads, the next segment begins, which may repeat what the last one has: each transaction
has a number (GTID), too. A restore begins an era: what comes then does not follow from the logs
before, but from the backup that was put back.
"""

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, SecretStr

from roost.core.engine import EngineError, FullError
from roost.engines.databases.backups import make_durable
from roost.engines.databases.keeping import Account, changed, utc_now, whole_from
from roost.engines.databases.programs import run
from roost.engines.mariadb import backups
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.replication import sequence
from roost.engines.mariadb.server import Server
from roost.threads import DISK

_DOING = "The database's binary logs could not be kept"
_STATE, _PART = "state", "log.part"
_NAME = re.compile(r"(\d+)-(\d+)-(\d+)\.zst")
_SERVERS_NAME = re.compile(r"log\.(\d{6,12})")
_MB = 1024 * 1024
_LEAST_FREE = 64
"""MB; of a new log and what is kept of the former one."""


class Base(BaseModel):
    """Something from which later moments can be reached."""

    backup_id: int
    era: int
    first: int
    """The number of the first log that has what the backup lacks."""
    moment: datetime | None = None
    """When it was put back; None: it was made in this era."""


class Kept(BaseModel):
    """What is known of all logs; it outlives whoever writes it."""

    bases: list[Base] = []
    eras: list[datetime] = []
    """When each era after the first one began."""
    segment: int = 0
    next: int = 0
    """The number of the next log."""
    floor: int = 0
    """Logs from this number on follow from each other."""
    node: str = ""
    """Whose logs were kept last."""
    last: str = ""
    """What that one calls the last log of which nothing is missing."""
    position: str = ""
    """Up to where all is kept (GTID)."""
    until: datetime | None = None
    """Up to which moment all is kept (UTC)."""


@dataclass(frozen=True, slots=True, order=True)
class Log:
    number: int
    era: int
    segment: int
    path: Path

    @classmethod
    def of(cls, path: Path) -> "Log | None":
        found = _NAME.fullmatch(path.name)
        if found is None:
            return None
        number, era, segment = map(int, found.groups())
        return cls(number, era, segment, path)


@dataclass(frozen=True, slots=True)
class Way:
    """How a moment is reached."""

    backup: Path
    restored: bool
    """Whether the first segment begins with the backup put back, and not where it was made."""
    segments: tuple[tuple[Path, ...], ...]
    moment: datetime


class Logs:
    """The logs of one database. Whoever calls what waits holds its folder."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._place = Folder(folder.backups / "logs", folder.backups)

    async def keep(self, node: Folder, *, purge: bool = False) -> int | None:
        """Keep what the primary has written so far. The number of the log in which it goes on;
        None of a server that was started without logs. `purge`: it keeps no other one itself."""
        server, now = Server(node), utc_now()
        await DISK.run(_check_room, node.data)
        asked = "select @@log_bin as logs, @@gtid_binlog_pos as position"
        [told] = await server.rows(_DOING, asked)
        if told["logs"] != "1":
            return None
        kept = await DISK.run(self._read)
        moved = kept.node != node.path.name
        if not moved and told["position"] == kept.position:
            names, starts = await _names(server), [kept.position]
        else:
            names = await _names(server, first="flush local binary logs;")
            starts = await _starts(server, names if moved else names[-1:])
        fresh, unbroken = _moved(kept, names, starts) if moved else _grown(kept, names)
        kept.floor = kept.floor if unbroken else kept.next
        kept.node, kept.segment = node.path.name, kept.segment + moved
        needed = bool(await DISK.run(self._usable, kept))
        for name in fresh:
            if needed:
                await self._copy(kept, node.data / name)
                kept.next += 1
            kept.last = name
            await DISK.finish(self._write, kept)
        kept.last, kept.position, kept.until = _before(names[-1]), starts[-1], now
        await DISK.finish(self._write, kept)
        if purge and len(names) > 1:
            await _purge(server, names[-1])
        return kept.next

    async def purge(self, node: Folder) -> None:
        """A replica needs no logs of what is kept, and may lead from where that ends."""
        server, kept = Server(node), await DISK.run(self._read)
        names = await _names(server)
        starts = map(sequence, await _starts(server, names))
        begun = [
            name
            for name, start in zip(names, starts, strict=True)
            if start <= sequence(kept.position)
        ]
        if begun:
            await _purge(server, begun[-1])

    def begin(self, backup_id: int, first: int) -> None:
        """A backup is being made; the log of this number is the first that it may lack."""
        kept = self._read()
        others = [each for each in kept.bases if each.backup_id != backup_id]
        kept.bases = [*others, Base(backup_id=backup_id, era=len(kept.eras), first=first)]
        self._write(kept)

    def begin_era(self, backup_id: int) -> None:
        """A backup was put back, and its server has begun its logs anew."""
        kept, now = self._read(), utc_now() + timedelta(seconds=1)
        kept.eras.append(now)
        kept.node, kept.last, kept.position = "", "", ""
        era = len(kept.eras)
        kept.bases.append(Base(backup_id=backup_id, era=era, first=kept.next, moment=now))
        self._write(kept)

    def break_off(self, position: str | None = None) -> None:
        """What comes now does not follow from what is kept; with the position up to where somebody
        else leads, only if more than that is kept."""
        kept = self._read()
        if position is None or sequence(position) < sequence(kept.position):
            kept.floor = kept.next
            kept.node, kept.last, kept.position = "", "", ""
            self._write(kept)

    def way_to(self, moment: datetime) -> Way:
        """Raises EngineError where there is none."""
        kept = self._read()
        era = sum(began <= moment for began in kept.eras)
        bases = [each for each in self._usable(kept) if each.era == era]
        fitting = [each for each in bases if self._moment(each) <= moment]
        if not fitting:
            raise EngineError("The database has no backup from before that moment")
        if kept.until is None or kept.until < moment:
            raise EngineError("What the database has written up to that moment is not kept yet")
        base = max(fitting, key=self._moment)
        logs = [each for each in self._logs() if each.era == era and each.number >= base.first]
        segments = groupby(_up_to(moment, logs), key=lambda log: log.segment)
        paths = tuple(tuple(log.path for log in each) for _, each in segments)
        restored = base.moment is not None
        return Way(self._folder.backup(base.backup_id), restored, paths, moment)

    def account(self) -> Account:
        kept = self._read()
        usable, held = self._usable(kept), {log.number for log in self._logs()}
        first = min((each.first for each in self._there(kept)), default=kept.next)
        due = range(max(first, kept.floor), kept.next)
        spare = sum(number < max(first, kept.floor) for number in held)
        oldest = min(map(self._moment, usable), default=None)
        return Account(oldest, sum(number not in held for number in due), spare)

    def prune(self) -> None:
        """Remove what no backup needs. Nobody has to hold the folder."""
        kept = self._read()
        first = min((each.first for each in self._usable(kept)), default=kept.next)
        for log in self._logs():
            if log.number < first:
                log.path.unlink(missing_ok=True)

    def trim(self, most: int) -> None:
        """Remove what no backup needs, and the oldest logs when all take more than so many MB."""
        kept, logs = self._read(), self._logs()
        sizes = [log.path.stat().st_size for log in logs]
        while sum(sizes) > most * _MB:
            sizes.pop(0)
            kept.floor = max(kept.floor, logs.pop(0).number + 1)
        usable = self._usable(kept)
        if usable != kept.bases:
            kept.bases = usable
            self._write(kept)
        self.prune()

    async def _copy(self, kept: Kept, log: Path) -> None:
        name = f"{kept.next}-{len(kept.eras)}-{kept.segment}.zst"
        part = self._place.path / _PART
        await run(_DOING, ("zstd", "--quiet", "--force", "-3", "-o", part, "--", log))
        await DISK.finish(make_durable, part, self._place.path / name)

    def _usable(self, kept: Kept) -> list[Base]:
        """The backups after which no log is missing."""
        there, held = self._there(kept), {log.number for log in self._logs()}
        first = min((each.first for each in there), default=kept.next)
        gone = (number for number in range(first, kept.next) if number not in held)
        floor = max((kept.floor, *(number + 1 for number in gone)))
        return [each for each in there if each.first >= floor]

    def _there(self, kept: Kept) -> list[Base]:
        return [each for each in kept.bases if self._folder.backup(each.backup_id).exists()]

    def _moment(self, base: Base) -> datetime:
        """The first one at which all is in it."""
        if base.moment is not None:
            return base.moment
        return whole_from(self._folder.backup(base.backup_id))

    def _logs(self) -> list[Log]:
        if not self._place.path.is_dir():
            return []
        found = (Log.of(path) for path in self._place.path.iterdir())
        return sorted(log for log in found if log is not None)

    def _read(self) -> Kept:
        return Kept.model_validate_json(self._place.read(_STATE) or "{}")

    def _write(self, kept: Kept) -> None:
        self._place.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._place.write(_STATE, kept.model_dump_json())


async def save(folder: Folder, primary: Folder, node: Folder, backup_id: int) -> None:
    """Back up a node of the database, so that later moments can be reached from there."""
    if folder.backup(backup_id).exists():
        return
    logs = Logs(folder)
    first = await logs.keep(primary, purge=not folder.clustered)
    if first is not None:
        await DISK.finish(logs.begin, backup_id, first)
    await backups.save(node, Server(node), backup_id)


def _check_room(data: Path) -> None:
    """A server that finds none when it begins another log may end, or go on without logs."""
    if shutil.disk_usage(data).free < _LEAST_FREE * _MB:
        raise FullError(f"{_DOING}: the host's disk is full")


async def _purge(server: Server, first: str) -> None:
    """All logs before this one."""
    await server.execute(_DOING, SecretStr(f"purge binary logs to '{first}'"))


def _grown(kept: Kept, names: Sequence[str]) -> tuple[list[str], bool]:
    """Closed logs of the same server that are not kept, and whether none before them is missing."""
    last = _number(kept.last)
    fresh = [name for name in names[:-1] if _number(name) > last]
    return fresh, _number([*fresh, names[-1]][0]) == last + 1


def _moved(kept: Kept, names: Sequence[str], starts: Sequence[str]) -> tuple[list[str], bool]:
    """Closed logs of another server that are not kept, by the positions at which they begin."""
    had, begins = sequence(kept.position), list(map(sequence, starts))
    later = [index for index in range(len(names) - 1) if begins[index + 1] > had]
    unbroken = begins[later[0]] <= had if later else begins[-1] == had
    return [names[index] for index in later], unbroken


async def _names(server: Server, first: str = "") -> list[str]:
    """The names of a server's logs, after it has done what `first` says."""
    rows = await server.rows(_DOING, f"{first} show binary logs")
    return [_checked(row["Log_name"]) for row in rows]


async def _starts(server: Server, names: Iterable[str]) -> list[str]:
    """The positions (GTID) at which logs begin."""
    asked = " union all ".join(
        f"select {i} as i, binlog_gtid_pos('{name}', 4) as position" for i, name in enumerate(names)
    )
    rows = await server.rows(_DOING, f"{asked} order by i")
    return [row["position"] for row in rows]


def _up_to(moment: datetime, logs: Iterable[Log]) -> Iterable[Log]:
    """Those that may have something from before: of logs after one that was kept later, none."""
    for log in logs:
        yield log
        if changed(log.path) > moment + timedelta(seconds=1):
            return


def _checked(name: str) -> str:
    if not _SERVERS_NAME.fullmatch(name):
        raise EngineError(f"{_DOING}: a log has an unusual name")
    return name


def _number(name: str) -> int:
    return int(name.rpartition(".")[2] or 0)


def _before(name: str) -> str:
    return f"log.{_number(name) - 1:06}"
