"""Copies of a database's data: one stream of PostgreSQL's own tool, compressed."""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.databases.backups import empty, make_durable
from roost.engines.databases.ownership import give
from roost.engines.databases.programs import Command, pipe
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.server import Server, owner
from roost.threads import DISK

_SAVING, _RESTORING = "The backup could not be made", "The backup could not be restored"
_TO_THE_END = {"restore_command": "false", "recovery_target_timeline": "current"}
"""Of the log of writes that is in the backup: of one that a replica gave, no record comes after the
end, at which a target would have to be noticed."""
STREAM = ("--pgdata=-", "--format=tar", "--wal-method=fetch", "--checkpoint=fast")
"""With the log of writes that it needs to be of one moment."""


async def save(folder: Folder, server: Server, backup_id: int) -> None:
    """Copy the data while they are written; as of the moment at which the copy is complete."""
    whole = folder.backup(backup_id)
    if whole.exists():
        return
    folder.backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = whole.with_name(f"{whole.name}.part")
    packing = ("zstd", "--quiet", "--force", "-T2", "-3", "-o", partial)
    try:
        await pipe(_SAVING, (*server.tool("pg_basebackup"), *STREAM), packing, folder.words)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    await DISK.finish(make_durable, partial, whole)


async def unpack(folder: Folder, packed: Path, manner: Command = ()) -> None:
    """Put the data of a backup beside those that are served. `manner`: what begins commands."""
    if not await DISK.run(packed.exists):
        raise EngineError("The backup is gone from the host")
    await DISK.finish(empty, folder.new_data)
    unpacking = (*manner, "zstd", "--quiet", "--decompress", "--stdout", packed)
    writing = (*manner, "tar", "--extract", "--directory", folder.new_data)
    await pipe(_RESTORING, unpacking, writing, folder.words)
    await DISK.finish(give, folder.new_data, owner())


def put_back(data: Path, histories: Iterable[Path]) -> None:
    """Restored data begin a timeline that none of their database has had, and end where the backup
    does."""
    for history in histories:
        target = data / "pg_wal" / history.name
        shutil.copy2(history, target)
        os.chown(target, *owner())
    recover(data, _TO_THE_END)


def recover(data: Path, settings: Mapping[str, str]) -> None:
    """Let the server that starts next read the log of writes as the settings say, and then begin a
    history of its own (PostgreSQL, Recovery Target)."""
    settle(data)
    lines = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
    for name, text in (("postgresql.auto.conf", lines), ("recovery.signal", "")):
        (data / name).write_text(text)
        os.chown(data / name, *owner())


def settle(data: Path) -> None:
    """What it was told once is of no use any more."""
    for name in ("recovery.signal", "standby.signal", "postgresql.auto.conf"):
        (data / name).unlink(missing_ok=True)
