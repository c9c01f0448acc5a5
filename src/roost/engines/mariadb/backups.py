"""Copies of a database's data: one stream of MariaDB's own tool, compressed."""

from pathlib import Path

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases.backups import empty, make_durable, replace
from roost.engines.databases.folder import INSIDE
from roost.engines.databases.programs import NOTHING, Command, pipe, run
from roost.engines.mariadb.encryption import plugin_folder, within
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import USER, Server
from roost.engines.mariadb.template import give
from roost.threads import DISK

_SAVING, _RESTORING = "The backup could not be made", "The backup could not be restored"
_CLONING = "A node of the database could not be copied"
_TOOL = "mariadb-backup"
_SETTINGS = "backup-my.cnf"
_POSITION = "xtrabackup_binlog_info"


async def save(folder: Folder, server: Server, backup_id: int) -> None:
    """Copy the data while they are written; as of the moment at which the copy is complete."""
    whole = folder.backup(backup_id)
    if whole.exists():
        return
    folder.backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = whole.with_name(f"{whole.name}.part")
    copying = await _copying(folder, server)
    packing = ("zstd", "--quiet", "--force", "-T2", "-3", "-o", partial)
    try:
        await pipe(_SAVING, copying, packing, folder.words)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    await DISK.finish(make_durable, partial, whole)


async def clone(folder: Folder, server: Server, target: Folder, key: SecretStr | None) -> str:
    """Let the target's data be those that are served, as of one moment: its position (GTID).

    The target has no server. `key`: of encrypted data.
    """
    await DISK.finish(empty, target.new_data)
    writing = ("mbstream", "-x", "-C", target.new_data)
    await pipe(_CLONING, await _copying(folder, server), writing, target.words)
    await _prepare(_CLONING, target, key)
    position = await DISK.run(position_of, target.new_data)
    await DISK.finish(give, target.new_data)
    await DISK.finish(replace, target)
    return position


async def _copying(folder: Folder, server: Server) -> Command:
    """What writes a stream of the data that are served."""
    await DISK.finish(empty, folder.path / "scratch")
    return (
        *server.within(),
        *(_TOOL, "--no-defaults", "--backup", "--stream=mbstream", "--user=root"),
        *(f"--socket={INSIDE / 'socket'}", f"--datadir={INSIDE / 'data'}"),
        f"--target-dir={INSIDE / 'scratch'}",
    )


def position_of(data: Path) -> str:
    """The position of a copy in the log of writes (GTID)."""
    fields = (data / _POSITION).read_text().split()
    return fields[2] if len(fields) > 2 else ""


async def unpack(folder: Folder, packed: Path, key: SecretStr | None, manner: Command = ()) -> None:
    """Put the data of a backup beside those that are served, ready to be served. `key`: of
    encrypted data; `manner`: what begins all commands."""
    if not await DISK.run(packed.exists):
        raise EngineError("The backup is gone from the host")
    await DISK.finish(empty, folder.new_data)
    unpacking = (*manner, "zstd", "--quiet", "--decompress", "--stdout", packed)
    writing = (*manner, "mbstream", "-x", "-C", folder.new_data)
    await pipe(_RESTORING, unpacking, writing, folder.words)
    await _prepare(_RESTORING, folder, key, manner)
    await DISK.finish(give, folder.new_data)


async def _prepare(doing: str, folder: Folder, key: SecretStr | None, manner: Command = ()) -> None:
    """Make of a copy what a server can serve. The tool looks for the key where the server did."""
    target = INSIDE / folder.new_data.name
    settings = ["--no-defaults"]
    if key is not None:
        settings = [
            f"--defaults-file={target / _SETTINGS}",
            f"--plugin-dir={await plugin_folder()}",
        ]
    command = (*manner, _TOOL, *settings, "--prepare", f"--target-dir={target}")
    await run(doing, within(folder, USER, key, command), feed=key or NOTHING)
