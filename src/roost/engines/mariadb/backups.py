"""Copies of a database's data: one stream of MariaDB's own tool, compressed."""

import os
import shutil
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.mariadb.folder import INSIDE, Folder
from roost.engines.mariadb.programs import pipe, run
from roost.engines.mariadb.server import Server
from roost.engines.mariadb.template import give
from roost.threads import DISK

_SAVING, _RESTORING = "The backup could not be made", "The backup could not be restored"
_TOOL = "mariadb-backup"


async def save(folder: Folder, server: Server, backup_id: int) -> None:
    """Copy the data while they are written; as of the moment at which the copy is complete."""
    whole = folder.backup(backup_id)
    if whole.exists():
        return
    folder.backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = whole.with_name(f"{whole.name}.part")
    scratch = folder.path / "scratch"
    await DISK.finish(_empty, scratch)
    copying = (
        *server.within(),
        *(_TOOL, "--no-defaults", "--backup", "--stream=mbstream", "--user=root"),
        *(f"--socket={INSIDE / 'socket'}", f"--datadir={INSIDE / 'data'}"),
        f"--target-dir={INSIDE / 'scratch'}",
    )
    packing = ("zstd", "--quiet", "--force", "-T2", "-3", "-o", partial)
    try:
        await pipe(_SAVING, copying, packing, folder.words)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    await DISK.finish(_keep, partial, whole)


async def unpack(folder: Folder, backup_id: int) -> None:
    """Put the data of a backup beside those that are served, ready to be served."""
    packed = folder.backup(backup_id)
    if not packed.exists():
        raise EngineError("The backup is gone from the host")
    await DISK.finish(_empty, folder.new_data)
    unpacking = ("zstd", "--quiet", "--decompress", "--stdout", packed)
    writing = ("mbstream", "-x", "-C", folder.new_data)
    await pipe(_RESTORING, unpacking, writing, folder.words)
    await run(_RESTORING, (_TOOL, "--no-defaults", "--prepare", f"--target-dir={folder.new_data}"))
    await DISK.finish(give, folder.new_data)


def discard(folder: Folder, backup_id: int) -> None:
    whole = folder.backup(backup_id)
    whole.with_name(f"{whole.name}.part").unlink(missing_ok=True)
    whole.unlink(missing_ok=True)


def _empty(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(mode=0o700)


def _keep(partial: Path, whole: Path) -> None:
    """From now on also after a loss of power."""
    for path in (partial, partial.parent):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    partial.replace(whole)
