"""What a database has written since its backups were made: segments of its log of writes, kept
beside them.

The server puts each whole segment into a folder of its own, from which they are taken. A restore
begins an era, which is another timeline: what comes then does not follow from what was written
before, but from the backup that was put back.
"""

import asyncio
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases.backups import make_durable
from roost.engines.databases.keeping import Account, utc_now, whole_from
from roost.engines.databases.programs import run
from roost.engines.postgresql import backups
from roost.engines.postgresql.eras import Base, Era, Kept, Stretch, due, is_needed, needs
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.replication import CATCH_UP_SECONDS, has_applied, written
from roost.engines.postgresql.segments import (
    first_of,
    is_history,
    is_segment,
    left_in,
    number_of,
    timeline_of,
)
from roost.engines.postgresql.server import Server
from roost.threads import DISK

_DOING = "The database's log of writes could not be kept"
_STATE, _PART, _ENDING = "state", "segment.part", ".zst"
_ARCHIVE_SECONDS, _POLL_SECONDS = 60.0, 0.02
_MB = 1024 * 1024
_NEXT = """
    select pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()),
        pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn() + 1)
    """
"""The number of the next transaction, and the segment in which it will be."""
_MARK = "select pg_catalog.pg_current_xact_id()"
"""A transaction that commits, which is later than all that a fork of this moment is to have."""
_SWITCH = "select pg_catalog.pg_walfile_name(pg_catalog.pg_switch_wal())"


@dataclass(frozen=True, slots=True)
class Way:
    """How a moment is reached."""

    backup: Path
    segments: tuple[Path, ...]
    """With the histories of timelines."""
    timeline: int
    target: datetime | None
    """The moment at which to end; None: with the last segment."""


class Logs:
    """The log of writes of one database. Whoever calls what waits holds its folder."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._place = Folder(folder.backups / "logs", folder.backups)

    async def keep(self, node: Folder) -> str:
        """Keep what the server has written so far. The segment in which it goes on."""
        server, kept = Server(node), await DISK.run(self._read)
        now = utc_now()
        following, segment = await _next(server)
        if kept.change:
            await self._turn(node, kept, timeline_of(segment))
        if kept.next != f"{timeline_of(segment)} {following}":
            await server.execute(_DOING, SecretStr(_MARK))
            last = await server.value(_DOING, _SWITCH)
            await _archived(node, last)
            following, segment = await _next(server)
            kept.next = f"{timeline_of(segment)} {following}"
            self._mark(kept, last, now)
        kept.until = now
        await self._take(node, kept)
        await DISK.finish(self._write, kept)
        return segment

    def begin(self, backup_id: int, first: str) -> None:
        """A backup is being made; this segment is the first that it may lack."""
        kept, timeline = self._read(), timeline_of(first)
        if not kept.eras or kept.eras[-1].timeline != timeline:
            began = utc_now() if kept.eras else None
            kept.eras.append(Era(timeline=timeline, began=began))
        others = [each for each in kept.bases if each.backup_id != backup_id]
        kept.bases = [*others, Base(backup_id=backup_id, era=len(kept.eras) - 1, first=first)]
        self._write(kept)

    def begin_era(self, backup_id: int, data: Path) -> None:
        """A backup was put back, whose server has begun another timeline."""
        kept, now = self._read(), utc_now() + timedelta(seconds=1)
        history = max(path for path in (data / "pg_wal").iterdir() if is_history(path.name))
        timeline = timeline_of(history.name)
        kept.eras.append(Era(timeline=timeline, began=now))
        first, era = first_of(timeline, history.read_text()), len(kept.eras) - 1
        kept.bases.append(Base(backup_id=backup_id, era=era, first=first, moment=now))
        kept.next, kept.change = "", ""
        self._write(kept)

    def change_timeline(self, *, goes_on: bool) -> None:
        """Another server is to lead. `goes_on`: it has all that was written for certain."""
        kept = self._read()
        broken = kept.change == "breaks off" or not goes_on
        kept.change = "breaks off" if broken else "goes on"
        self._write(kept)

    def histories(self) -> list[Path]:
        """The histories of all timelines known here: no server begins one of these again."""
        return [path for path in self._held() if is_history(path.name)]

    def way_to(self, moment: datetime) -> Way:
        """Raises EngineError where there is none."""
        kept = self._read()
        era = sum(each.began is not None and each.began <= moment for each in kept.eras)
        bases = [each for each in self._usable(kept) if each.era == era]
        fitting = [each for each in bases if self._moment(each) <= moment]
        if not fitting:
            raise EngineError("The database has no backup from before that moment")
        if kept.until is None or kept.until < moment:
            raise EngineError("What the database has written up to that moment is not kept yet")
        base, found = max(fitting, key=self._moment), kept.eras[era]
        names = {name for name in self._segments() if needs(base, found, name)}
        paths = (self._path(name) for name in sorted(names))
        target = moment if found.marked is not None and moment <= found.marked else None
        backup, timeline = self._folder.backup(base.backup_id), int(found.timeline, 16)
        return Way(backup, (*paths, *self.histories()), timeline, target)

    def account(self) -> Account:
        kept, held = self._read(), self._segments()
        there = self._there(kept)
        lost = {name for each in there for name in due(each, kept) if name not in held}
        spare = {name for name in held if not is_needed(name, there, kept)}
        oldest = min(map(self._moment, self._usable(kept)), default=None)
        return Account(oldest, len(lost), len(spare))

    def prune(self) -> None:
        """Remove what no backup needs. Nobody has to hold the folder."""
        kept = self._read()
        usable = self._usable(kept)
        for name in self._segments():
            if not is_needed(name, usable, kept):
                self._path(name).unlink(missing_ok=True)

    def trim(self, most: int) -> None:
        """Remove what no backup needs, and the oldest when all take more than so many MB."""
        kept, names = self._read(), sorted(self._segments(), key=number_of)
        sizes = [self._path(name).stat().st_size for name in names]
        while sum(sizes) > most * _MB:
            sizes.pop(0)
            self._path(names.pop(0)).unlink()
        usable = self._usable(kept)
        if usable != kept.bases:
            kept.bases = usable
            self._write(kept)
        self.prune()

    async def _turn(self, node: Folder, kept: Kept, timeline: str) -> None:
        """Another server leads, with a timeline of its own: go on with what it has of the former
        ones, as far as these count."""
        if kept.eras and timeline != kept.eras[-1].timeline:
            if kept.change == "goes on":
                era, gone = kept.eras[-1], await DISK.run(_history, node, timeline)
                names = [each.timeline for each in gone]
                era.former += gone[names.index(era.timeline) :]
                era.timeline, era.marked = timeline, None
                await self._catch_up(node, kept)
            else:
                kept.eras.append(Era(timeline=timeline, began=utc_now()))
        kept.change = ""

    async def _catch_up(self, node: Folder, kept: Kept) -> None:
        """What of former timelines is not kept yet is where their server put it, or is still among
        what the present one has received."""
        for each in self._folder.nodes():
            await self._take(each, kept)
        wanted = {name for base in self._there(kept) for name in due(base, kept)}
        for name in sorted(wanted - await DISK.run(self._segments)):
            path = node.data / "pg_wal" / name
            if path.exists():
                await self._pack(path)

    def _mark(self, kept: Kept, last: str, now: datetime) -> None:
        if kept.eras and kept.eras[-1].timeline == timeline_of(last):
            kept.eras[-1].last, kept.eras[-1].marked = last, now

    async def _take(self, node: Folder, kept: Kept) -> None:
        """From where the server has put it, what a backup needs."""
        there = self._there(kept)
        for path in await DISK.run(lambda: sorted(node.archive.iterdir())):
            held = self._path(path.name).exists()
            if is_history(path.name):
                await DISK.finish(self._copy, path)
            elif is_segment(path.name) and is_needed(path.name, there, kept) and not held:
                await self._pack(path)
            if not path.name.startswith("archtemp"):  # One is being put there.
                path.unlink(missing_ok=True)

    async def _pack(self, segment: Path) -> None:
        part = self._place.path / _PART
        await DISK.run(self._make_place)
        await run(_DOING, ("zstd", "--quiet", "--force", "-3", "-o", part, "--", segment))
        await DISK.finish(part.chmod, 0o644)  # The server of a fork reads it.
        await DISK.finish(make_durable, part, self._path(segment.name))

    def _copy(self, history: Path) -> None:
        self._make_place()
        part = self._place.path / _PART
        part.write_bytes(history.read_bytes())
        part.chmod(0o644)
        make_durable(part, self._place.path / history.name)

    def _usable(self, kept: Kept) -> list[Base]:
        """Of those that are there, those after which no segment is missing."""
        held = self._segments()
        return [each for each in self._there(kept) if held.issuperset(due(each, kept))]

    def _there(self, kept: Kept) -> list[Base]:
        return [each for each in kept.bases if self._folder.backup(each.backup_id).exists()]

    def _moment(self, base: Base) -> datetime:
        """The first one at which all is in it."""
        if base.moment is not None:
            return base.moment
        return whole_from(self._folder.backup(base.backup_id))

    def _path(self, segment: str) -> Path:
        return self._place.path / f"{segment}{_ENDING}"

    def _segments(self) -> set[str]:
        names = (path.name.removesuffix(_ENDING) for path in self._held())
        return {name for name in names if is_segment(name)}

    def _held(self) -> list[Path]:
        return sorted(self._place.path.iterdir()) if self._place.path.is_dir() else []

    def _make_place(self) -> None:
        self._place.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _read(self) -> Kept:
        return Kept.model_validate_json(self._place.read(_STATE) or "{}")

    def _write(self, kept: Kept) -> None:
        self._make_place()
        self._place.write(_STATE, kept.model_dump_json())


async def save(folder: Folder, primary: Folder, node: Folder, backup_id: int) -> None:
    """Back up a node of the database, so that later moments can be reached from there."""
    if folder.backup(backup_id).exists():
        return
    logs = Logs(folder)
    first = await logs.keep(primary)
    await DISK.finish(logs.begin, backup_id, first)
    if node != primary:
        position = await written(Server(primary))
        if not await has_applied(Server(node), position, CATCH_UP_SECONDS, 0):
            node = primary
    await backups.save(folder, Server(node), backup_id)


async def _next(server: Server) -> tuple[str, str]:
    following, segment = (await server.execute(_DOING, SecretStr(_NEXT))).split()
    if not is_segment(segment):
        raise EngineError(f"{_DOING}: a segment has an unusual name")
    return following, segment


async def _archived(node: Folder, segment: str) -> None:
    """Returns when the server has put it where it is taken from. Raises EngineError."""
    deadline = time.monotonic() + _ARCHIVE_SECONDS
    while not (node.archive / segment).exists():
        if time.monotonic() > deadline:
            raise EngineError(f"{_DOING}: the server does not hand it over")
        await asyncio.sleep(_POLL_SECONDS)


def _history(node: Folder, timeline: str) -> list[Stretch]:
    """The timelines that this one goes on from, the first one first, as its server says."""
    text = (node.data / "pg_wal" / f"{timeline}.history").read_text()
    return [Stretch(timeline=name, last=number - 1) for name, number in left_in(text)]
