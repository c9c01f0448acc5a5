"""Data as another database had them at a moment: its backup, and what its binary logs say since.

A server of the new data folder, which nobody reaches, reads the logs as if they were its own: so it
can where they are encrypted, and it says where one is missing.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from roost.engines.databases.backups import empty, link, remove
from roost.engines.databases.folder import INSIDE
from roost.engines.databases.host import port_of
from roost.engines.databases.programs import pipe, run
from roost.engines.mariadb import backups
from roost.engines.mariadb.encryption import copy_key
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.host import Host
from roost.engines.mariadb.logs import Way
from roost.engines.mariadb.replication import checked, sequence
from roost.engines.mariadb.server import Server
from roost.engines.mariadb.template import give
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

_DOING = "The database could not be brought to that moment"
_TAKEN, _REPLAY = "taken", "replay"
_SETTINGS: dict[str, object] = {
    "skip-networking": "ON",
    "read-only": "OFF",
    "log-bin": INSIDE / _REPLAY / "log",
    "binlog-expire-logs-seconds": 0,
    "gtid-strict-mode": "OFF",
    "sync-binlog": 0,
    "innodb-flush-log-at-trx-commit": 2,
    "max-allowed-packet": "1G",
    "secure-timestamp": "NO",
    "event-scheduler": "OFF",
    "strict-password-validation": "OFF",
}
_AT_SOCKET = ("--no-defaults", "--socket=socket", "--user=root")
_APPLY = (
    *("mariadb", *_AT_SOCKET, "--binary-mode", "--max-allowed-packet=1G"),
    "--init-command=set session sql_log_bin = 0",
)
_FORGET = SecretStr("set session sql_log_bin = 0; delete from mysql.gtid_slave_pos;")


def take(way: Way, source: Folder, target: Folder) -> Way:
    """Let the target have files that nobody takes away any more, and the key that they need."""
    place = target.path / _TAKEN
    empty(place)
    copy_key(source, target)
    segments = tuple(tuple(link(log, place) for log in segment) for segment in way.segments)
    return replace(way, backup=link(way.backup, place), segments=segments)


async def fill(
    host: Host,
    node: Folder,
    spec: DatabaseSpec,
    way: Way,
    key: SecretStr | None,
    number: int | None,
) -> None:
    """Let the data of a node without a server be those at the way's end; `number`: in a cluster."""
    server = Server(node)
    await DISK.finish(remove, node.data)
    await backups.unpack(node, way.backup, key)
    position = "" if way.restored else await DISK.run(backups.position_of, node.new_data)
    node.new_data.rename(node.data)
    for segment in way.segments or ((),):
        await _lay_out(node, segment)
        await host.configure(node, spec, port_of(node), number, _SETTINGS)
        try:
            await server.start(key)
            position = await _apply(node, server, position, way)
            await server.execute(_DOING, _FORGET)
        finally:
            await server.stop()
    await DISK.finish(remove, node.path / _REPLAY)


def clear(folder: Folder) -> None:
    """What was taken is of no use any more."""
    remove(folder.path / _TAKEN)


async def _apply(node: Folder, server: Server, position: str, way: Way) -> str:
    """What a segment has from the position on, until the moment. The position at its end."""
    [told] = await server.rows(_DOING, "select @@gtid_binlog_pos as position")
    end = told["position"]
    if sequence(end) <= sequence(position):
        return position
    start = [f"--start-position={checked(position)}"] if position else []
    reading = (
        *("env", "TZ=UTC", "mariadb-binlog", *_AT_SOCKET, "--read-from-remote-server"),
        *("--to-last-log", f"--stop-datetime={way.moment:%Y-%m-%d %H:%M:%S}", *start, "log.000001"),
    )
    await pipe(_DOING, reading, _APPLY, node.words, cwd=node.path)
    return end


async def _lay_out(node: Folder, segment: Sequence[Path]) -> None:
    """Logs as a server keeps them."""
    place = node.path / _REPLAY
    await DISK.finish(remove, place)
    place.mkdir(mode=0o700)
    names = [f"log.{number:06}" for number, _ in enumerate(segment, 1)]
    for name, log in zip(names, segment, strict=True):
        unpacking = ("zstd", "--quiet", "--decompress", "-o", place / name, "--", log)
        await run(_DOING, unpacking)
    index = "".join(f"{INSIDE / _REPLAY / name}\n" for name in names)
    (place / "log.index").write_text(index)
    await DISK.finish(give, place)
