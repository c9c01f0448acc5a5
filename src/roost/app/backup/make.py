"""`roost backup`: the state of a cloud into a file, while it is served or not."""

import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO

from roost.app.all_groups import all_groups
from roost.app.backup.archive import BackupError, Writer
from roost.app.backup.disks import write_disks
from roost.app.backup.manifest import ATTACHMENTS, CATALOG, DATABASE, KEY, TLS, TOKEN, Origin
from roost.app.backup.moment import Moment, held
from roost.app.backup.pieces import Pieces
from roost.app.host import HOME
from roost.core.engine import EngineError
from roost.core.hosts.holdings import Holdings
from roost.core.reconcile import PAGE
from roost.engines.locks import try_lock
from roost.resources.support import queries as support
from roost.settings import MAIN_HOST, Settings
from roost.store import Connection, migrate
from roost.store.dumps import dumping
from roost.store.embedded import EmbeddedServer
from roost.threads import DISK

_DRAFTS = ".backup"


@dataclass(frozen=True, slots=True)
class Made:
    """What a backup has become."""

    size: int
    """Bytes."""
    revision: str
    attachments: int
    lost: int
    """Attachments that were deleted before their file could be read."""
    listed: int = 0
    """Files of guests and images."""
    added: int = 0
    """Bytes of theirs that no earlier backup had."""
    others: tuple[str, ...] = ()
    """Other hosts, which have guests or volumes of their own."""


async def back_up(
    settings: Settings, target: Path, disks: Path | None, say: Callable[[str], None]
) -> Made:
    """Write the file; it appears when it is whole, mode 0600. `disks`: a folder for pieces.

    What is no host's is saved on the main host alone. Raises BackupError, RevisionError,
    ClusterError, DumpError or OSError, and then there is no file.
    """
    is_main = settings.host == MAIN_HOST
    with _drafts(settings.state) as drafts, _appearing(target) as file, Writer(file) as writer:
        async with _database(settings) as dsn, held(dsn, settings.state) as moment:
            origin = await _describe(settings, moment.db)
            others = await _other_hosts(settings, origin, moment.db)
            what = "database at" if is_main else f"host {settings.host}, at"
            say(f"{what} revision {origin.revision}")
            await DISK.run(_write_moment, writer, moment, drafts, is_main)
            say("key, token, certificates, catalogue and attachments" if is_main else "key")
            await DISK.run(_write_small, writer, settings)
            keys = [key async for key in _attachment_keys(settings, moment.db)]
            # Files are there before their rows, so each one that this moment knows is; and they
            # do not change.
            saved = await DISK.run(_write_attachments, writer, settings.state, keys)
        listed = added = 0
        if disks is not None:
            say("disks, volumes and backups of guests, and images")
            listed, added = await _save_disks(writer, settings, disks, drafts)
        size = await DISK.run(writer.finish, origin)
    return Made(size, origin.revision, saved, len(keys) - saved, listed, added, others)


async def _save_disks(
    writer: Writer, settings: Settings, folder: Path, drafts: Path
) -> tuple[int, int]:
    """How many files they are, and how many bytes of them are new."""
    with Pieces.opened(folder) as pieces:
        try:
            return await write_disks(writer, settings, pieces, drafts), pieces.added
        except EngineError as error:
            raise BackupError(str(error)) from error


def left_out(settings: Settings, made: Made, *, disks: bool) -> list[str]:
    """What somebody else has to save, a sentence each."""
    said = list[str]()
    if made.others:
        hosts = ", ".join(made.others)
        said.append(f"Not in it: what other hosts have; run this there, too: {hosts}.")
    if settings.host != MAIN_HOST:
        said.append("Not in it: the database and what else is no host's; back up main, too.")
    said.append("Not in it: objects in buckets, managed databases.")
    if not disks:
        said.append("Not in it, without --disks: disks, volumes, backups and images of guests.")
    if settings.attachments_bucket is not None:
        said.append(f"Not in it: attachments, in the bucket {settings.attachments_bucket}.")
    if settings.powerdns_url is not None or settings.dns_database_url is not None:
        said.append("Not in it: zones and their keys, in a name server or database of your own.")
    return said


@asynccontextmanager
async def _database(settings: Settings) -> AsyncIterator[str]:
    """As it is: tables of an earlier revision are saved as such."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    server = EmbeddedServer(settings.state)
    await server.start()
    try:
        yield server.dsn
    finally:
        await server.stop()


@contextmanager
def _drafts(state: Path) -> Iterator[Path]:
    """An empty folder for copies. Raises BackupError while another backup has it."""
    folder = state / _DRAFTS
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not try_lock(descriptor):
            raise BackupError("another backup of this state is being made")
        # One that was killed may have left something.
        for path in folder.iterdir():
            path.unlink()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


@contextmanager
def _appearing(target: Path) -> Iterator[IO[bytes]]:
    """A file that gets its name at the end of the block, and is gone when that fails."""
    part = target.with_name(f".{target.name}.part")
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        if not try_lock(file.fileno()):
            raise BackupError(f"{target} is being written by another backup")
        try:
            os.fchmod(file.fileno(), 0o600)
            file.truncate()
            yield file
            part.rename(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """So that names in it survive a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def _describe(settings: Settings, db: Connection) -> Origin:
    """Raises BackupError or RevisionError for a database that this program does not know."""
    revision = await migrate.current(db)
    if revision is None:
        raise BackupError("the database is empty")
    migrate.refuse_unknown(revision, "database")
    return Origin(
        roost=version("roost"),
        revision=revision,
        made=datetime.now(UTC).replace(microsecond=0),
        engines=settings.engines,
        host=settings.host,
    )


async def _other_hosts(settings: Settings, origin: Origin, db: Connection) -> tuple[str, ...]:
    """That have something on disks of their own; of tables of an earlier release nothing is
    known."""
    if settings.database_url is None or origin.revision != migrate.head():
        return ()
    counts = await Holdings(*all_groups().holdings).counts(db)
    return tuple(sorted(counts.keys() - {settings.host}))


def _write_moment(writer: Writer, moment: Moment, drafts: Path, database: bool) -> None:
    if database:
        with dumping(moment.dsn, moment.snapshot) as dump:
            writer.add(DATABASE, dump, packed=True)
    for name, connection in moment.files.items():
        copy = drafts / "copy.sqlite3"
        with closing(sqlite3.connect(copy)) as target:
            copy.chmod(0o600)
            connection.backup(target)
        with copy.open("rb") as file:
            writer.add(name, file)
        copy.unlink()


def _write_small(writer: Writer, settings: Settings) -> None:
    paths: dict[str, Path | None] = {
        KEY: settings.sealing_key,
        TOKEN: settings.state / TOKEN,
        CATALOG: settings.catalog,
        **{name: settings.state / name for name in (HOME, *TLS)},
    }
    for name, path in paths.items():
        if path is None or (name in (TOKEN, HOME, *TLS) and not path.exists()):
            continue
        with path.open("rb") as file:
            writer.add(name, file)


async def _attachment_keys(settings: Settings, db: Connection) -> AsyncIterator[str]:
    """The keys of attachments, by the rows of the moment; none where the files are in a bucket, or
    another host's."""
    if settings.attachments_bucket is not None or settings.host != MAIN_HOST:
        return
    after, last = 0, await support.last_attachment(db)
    while rows := await support.all_attachments(db, after, last, PAGE):
        after = rows[-1].id
        for row in rows:
            yield row.key


def _write_attachments(writer: Writer, state: Path, keys: list[str]) -> int:
    """How many were there."""
    saved = 0
    for key in keys:
        try:
            file = (state / ATTACHMENTS / key).open("rb")
        except FileNotFoundError:
            continue
        with file:
            writer.add(f"{ATTACHMENTS}/{key}", file)
        saved += 1
    return saved
