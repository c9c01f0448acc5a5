"""`roost restore`: a state from a backup, whole or not at all.

All is made in a folder of its own inside the state, which may be the root of a disk, while the
state's lock keeps servers away; then it is moved to its place by renames.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from roost.app.backup import queries
from roost.app.backup.archive import BackupError, Reader
from roost.app.backup.disks import put_disks, read_contents
from roost.app.backup.make import sync_folder
from roost.app.backup.manifest import CATALOG, DATABASE, IMAGES, KEY, ZONES, Manifest
from roost.app.backup.pieces import Pieces
from roost.app.served import serving
from roost.app.state import RESTORING, reachable
from roost.core.hosts import queries as host_queries
from roost.engines.powerdns.accounts import owner_of_data
from roost.engines.qemu.images.store import ImageStore, cloud_folder
from roost.settings import MAIN_HOST, Settings
from roost.store import migrate
from roost.store.cluster import Cluster
from roost.store.dumps import load, load_own
from roost.store.embedded import EmbeddedServer
from roost.store.pool import connect
from roost.threads import DISK

_LOCK = "serve.json"
_NOBODYS = ("lost+found",)
"""What a disk has that was just made."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the command line says; None: as the state was served."""

    engines: Literal["auto", "simulated", "local"] | None
    catalog: Path | None
    disks: Path | None = None
    """The folder with the pieces of disks and images; None leaves them out."""
    database: bool = True
    """Whether the rows are loaded; else a database of the operator's own keeps those it has."""


async def restore(
    settings: Settings, choice: Choice, file: Path, say: Callable[[str], None]
) -> Settings:
    """Fill the empty state; returns the settings that it is to be served with.

    Raises BackupError, ServedError, ClusterError, DumpError or OSError, and then the state is as
    empty as before.
    """
    with file.open("rb") as opened:
        reader = await DISK.run(Reader.open, opened)
        manifest = reader.manifest
        made = f"{manifest.made:%Y-%m-%d %H:%M} UTC"
        say(f"the backup is whole: {made}, Roost {manifest.roost}, revision {manifest.revision}")
        settings = _as_served(settings, choice, manifest)
        existed = settings.state.exists()
        _refuse_unfit(settings, reader)
        loads = manifest.host == MAIN_HOST and choice.database
        await _refuse_rows(settings, manifest, loads=loads)
        with ExitStack() as stack:
            disks = await _open_disks(stack, reader, choice.disks)
            opened_state = stack.enter_context(serving(settings))
            # Somebody may have served or restored it before we had the lock.
            _refuse_used(settings.state)
            try:
                await _fill(settings, reader, disks, say, loads=loads)
                opened_state(None)
            except BaseException:
                await DISK.run(_clear, settings.state)
                if not existed:
                    settings.state.rmdir()
                raise
    return settings


def _as_served(settings: Settings, choice: Choice, manifest: Manifest) -> Settings:
    catalog = choice.catalog
    if catalog is None and CATALOG in manifest.names:
        catalog = settings.state / CATALOG
    engines = choice.engines or manifest.engines
    return settings.model_copy(update={"engines": engines, "catalog": catalog})


def _refuse_unfit(settings: Settings, reader: Reader) -> None:
    """Raises BackupError or RevisionError."""
    manifest, state = reader.manifest, settings.state
    migrate.refuse_unknown(manifest.revision, "backup", f"Roost {manifest.roost} or newer")
    needed = {DATABASE, KEY} if manifest.host == MAIN_HOST else {KEY}
    if missing := needed.difference(manifest.names):
        raise BackupError(f"the backup has no {min(missing)}")
    if state.exists():
        _refuse_used(state)
    key = settings.key_file
    if key is not None and key.exists() and key.read_bytes() != reader.read(KEY):
        raise BackupError(f"{key} is there already, and is not the key of this backup")
    if ZONES in manifest.names:
        try:
            owner_of_data()
        except KeyError:
            raise BackupError("the backup has zones of PowerDNS: install it first") from None


async def _refuse_rows(settings: Settings, manifest: Manifest, *, loads: bool) -> None:
    """Raises BackupError where rows would be loaded over others, or there are none to compare
    with."""
    own = settings.database_url
    if manifest.host != MAIN_HOST and (own is None or settings.host == MAIN_HOST):
        raise BackupError(
            f"the backup is of host {manifest.host}, without the database: name the host with"
            " ROOST_HOST, and the database with DATABASE_URL"
        )
    if manifest.host == MAIN_HOST and settings.host != MAIN_HOST:
        raise BackupError(f"the backup is of host {MAIN_HOST}, not of {settings.host}")
    if own is None and not loads:
        raise BackupError("only a database of your own (DATABASE_URL) can be kept")
    if own is not None:
        empty, alive = await _look_at(own, settings.host)
        if loads and not empty:
            raise BackupError(
                "the database of DATABASE_URL is not empty: empty it first, or keep it as it is"
                " with --keep-database"
            )
        if empty and not loads:
            raise BackupError("the database of DATABASE_URL is empty: restore host main first")
        if alive:
            raise BackupError(
                f"host {settings.host} of the database of DATABASE_URL is served: two of it would"
                " act for the same users. Stop that one, and wait half a minute"
            )


async def _look_at(dsn: str, host: str) -> tuple[bool, bool]:
    """Whether the database is empty, and whether a worker of the host serves with it."""
    async with reachable(dsn) as connection:
        if await queries.is_empty(connection):
            return True, False
        facts = await host_queries.find(connection, host)
        return False, facts is not None and facts.alive


def _refuse_used(state: Path) -> None:
    """The lock may be there, and what a restore that was killed has left. Raises BackupError."""
    known = (_LOCK, RESTORING, *_NOBODYS)
    if found := sorted(path.name for path in state.iterdir() if path.name not in known):
        raise BackupError(f"{state} is not empty: it has {found[0]}")


async def _open_disks(stack: ExitStack, reader: Reader, folder: Path | None) -> Pieces | None:
    """Raises BackupError when some of what the backup lists is not there."""
    if folder is None:
        return None
    if not reader.manifest.lists:
        raise BackupError("the backup lists no disks: it was made without --disks")
    pieces = stack.enter_context(Pieces.opened(folder))
    files = await DISK.run(read_contents, reader)
    if missing := await DISK.run(pieces.missing, files.values()):
        raise BackupError(f"{folder} lacks {missing} of the pieces that the backup lists")
    return pieces


async def _fill(
    settings: Settings,
    reader: Reader,
    disks: Pieces | None,
    say: Callable[[str], None],
    *,
    loads: bool,
) -> None:
    draft = settings.state / RESTORING
    # Of a restore that was killed the database may still run.
    await Cluster(draft / "postgres").stop()
    await DISK.run(_extract, reader, draft)
    say("key, token, catalogue, zones and attachments are there")
    if disks is not None:
        # Images that are kept elsewhere are put there; in the state they move with the rest.
        images = settings.images or draft / IMAGES
        store = ImageStore(images, cloud_folder(images, draft / KEY))
        await put_disks(read_contents(reader), disks, draft, store)
        say("disks and images are there")
    if loads:
        await _load(settings.database_url, draft, reader)
        say("the database is loaded")
    await DISK.run(_move, settings, draft)


def _extract(reader: Reader, draft: Path) -> None:
    """Whoever runs PostgreSQL passes through the folder, as through the state."""
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o711)
    lists = set(reader.manifest.lists)
    for name in reader.manifest.names:
        if name == DATABASE or name in lists:
            continue
        path = draft / name
        for folder in reversed(path.relative_to(draft).parents):
            (draft / folder).mkdir(mode=0o700, exist_ok=True)
        with reader.stream(name) as source:
            _write(path, source)
    zones = draft / ZONES
    if zones.exists():
        for path in (zones, zones.parent):
            os.chown(path, *owner_of_data())


def _write(path: Path, source: IO[bytes]) -> None:
    """A private file that survives a crash of the machine."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as target:
        shutil.copyfileobj(source, target)
        target.flush()
        os.fsync(target.fileno())


async def _load(own: str | None, draft: Path, reader: Reader) -> None:
    if own is not None:
        await _load_into(own, reader, load_own)
        return
    server = EmbeddedServer(draft)
    await server.start()
    try:
        await _load_into(server.dsn, reader, load)
    finally:
        await server.stop()


async def _load_into(dsn: str, reader: Reader, load_all: Callable[[str, IO[bytes]], None]) -> None:
    with reader.stream(DATABASE) as dump:
        await DISK.run(load_all, dsn, dump)
    await migrate.upgrade(dsn)
    connection = await connect(dsn)
    try:
        await queries.forget_workers(connection)
        await queries.analyze(connection)
    finally:
        await connection.close()


def _move(settings: Settings, draft: Path) -> None:
    if settings.key_file is not None:
        with suppress(FileExistsError), (draft / KEY).open("rb") as source:
            _write(settings.key_file, source)
        (draft / KEY).unlink()
    for path in draft.iterdir():
        path.rename(settings.state / path.name)
    draft.rmdir()
    sync_folder(settings.state)


def _clear(state: Path) -> None:
    """Back to the empty folder that it was."""
    for path in state.iterdir():
        if path.name in _NOBODYS:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
