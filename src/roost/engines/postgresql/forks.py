"""Data as another database had them at a moment: its backup, and its log of writes since.

A server of the new data folder, which nobody reaches, reads the log as if it were its own, and says
where something is missing.
"""

import shutil
from dataclasses import replace

from roost.engines.databases.backups import empty, link, remove
from roost.engines.databases.folder import INSIDE
from roost.engines.databases.ownership import give
from roost.engines.postgresql import backups
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.host import Host
from roost.engines.postgresql.logs import Way
from roost.engines.postgresql.segments import is_history
from roost.engines.postgresql.server import Server, owner
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

_DOING = "The database could not be brought to that moment"
_TAKEN = "taken"
_SETTINGS: dict[str, object] = {
    "listen_addresses": "",
    "archive_mode": "off",
    "hot_standby": "off",
}
_PATIENCE = 6 * 3600.0
"""Seconds; the job that waits has no more."""


def take(way: Way, source: Folder, target: Folder) -> Way:
    """Let the target have files that nobody takes away any more."""
    place = target.path / _TAKEN
    empty(place)
    segments = tuple(link(each, place) for each in way.segments)
    return replace(way, backup=link(way.backup, place), segments=segments)


async def fill(host: Host, node: Folder, spec: DatabaseSpec, way: Way) -> None:
    """Let the data of a node without a server be those at the way's end."""
    server = Server(node)
    await DISK.finish(remove, node.data)
    await backups.unpack(node, way.backup)
    node.new_data.rename(node.data)
    await DISK.finish(_lay_out, node, way)
    await host.configure(node, spec, _SETTINGS)
    try:
        await server.start(seconds=_PATIENCE)
        await server.led()
    finally:
        await server.stop()
    await DISK.finish(backups.settle, node.data)
    await DISK.finish(remove, node.replay)


def clear(folder: Folder) -> None:
    """What was taken is of no use any more."""
    remove(folder.path / _TAKEN)


def _lay_out(node: Folder, way: Way) -> None:
    empty(node.replay)
    for path in way.segments:
        path.rename(node.replay / path.name)
    give(node.replay, owner())
    for history in node.replay.iterdir():
        if is_history(history.name):
            shutil.copy2(history, node.data / "pg_wal" / history.name)
    give(node.data / "pg_wal", owner())
    settings = {
        "restore_command": f"zstd -dqfo %p {INSIDE / node.replay.name}/%f.zst",
        "recovery_target_timeline": str(way.timeline),
        "recovery_target_action": "promote",
    }
    if way.target is not None:
        settings["recovery_target_time"] = f"{way.target:%Y-%m-%d %H:%M:%S}+00"
        settings["recovery_target_inclusive"] = "off"
    backups.recover(node.data, settings)
