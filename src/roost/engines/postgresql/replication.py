"""What servers of a cluster are told: whom to follow, and for whom a commit waits."""

import asyncio
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases.backups import empty, replace
from roost.engines.databases.folder import INSIDE
from roost.engines.databases.ownership import give
from roost.engines.postgresql.config import REPLICAS
from roost.engines.postgresql.folder import PASSWORDS, REPLICATION, Folder
from roost.engines.postgresql.segments import position_of
from roost.engines.postgresql.server import Server, owner, run_within
from roost.engines.processes import search_process
from roost.resources.databases.engine import DatabaseSpec
from roost.threads import DISK

SETTINGS: dict[str, object] = {
    "hot_standby": "on",
    "wal_retrieve_retry_interval": "500ms",
    "wal_receiver_timeout": "10s",
    "wal_sender_timeout": "10s",
    "include_if_exists": REPLICATION,
}
"""Of each node; the last one is what changes while it runs."""
CATCH_UP_SECONDS = 60.0

_DOING = "The nodes of the database could not be brought together"
_CLONING = "A node of the database could not be copied"
_END_SECONDS, _POLL_SECONDS = 10.0, 0.05
_NEAR = 1024 * 1024
"""Bytes of the log of writes that a server reads in no time."""
_WAITING = ("on", "remote_apply", "remote_write")
_STREAMING = """
    select coalesce((select sender_port from pg_catalog.pg_stat_wal_receiver
        where status = 'streaming'), 0)
    """
_RECEIVED = """
    select (select count(*) from pg_catalog.pg_stat_wal_receiver where status = 'streaming'),
        greatest(pg_catalog.pg_last_wal_receive_lsn(), pg_catalog.pg_last_wal_replay_lsn())
            - '0/0'::pg_catalog.pg_lsn
    """
_APPLIED = "select pg_catalog.pg_last_wal_replay_lsn() - '0/0'::pg_catalog.pg_lsn"
_WRITTEN = "select pg_catalog.pg_current_wal_flush_lsn() - '0/0'::pg_catalog.pg_lsn"
_FOLLOWS = "select pg_catalog.pg_is_in_recovery()"
_LEAD = """
    select case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_promote(true, 60)
        else true end
    """
_KNOWS = "select pg_catalog.pg_is_in_recovery(), pg_catalog.pg_last_wal_receive_lsn() is not null"


@dataclass(frozen=True, slots=True)
class Source:
    """Who is followed."""

    address: str
    port: int

    def login(self, node: Folder) -> str:
        """How the node connects: its password is in a file, as settings can be read."""
        who = f"user={REPLICAS} passfile={PASSWORDS} application_name={name_of(node)}"
        return f"host={self.address} port={self.port} sslmode=require {who}"


def name_of(node: Folder) -> str:
    """What a node calls itself to the one that it follows."""
    return node.path.name.replace("-", "_")


def waits(spec: DatabaseSpec) -> bool:
    """Whether a commit waits until a replica has it."""
    return spec.shape.commit_type in _WAITING


async def follow(node: Folder, source: Source) -> None:
    """From now on, or from its start on."""
    await _tell(node, {"primary_conninfo": source.login(node)})


async def acknowledge(node: Folder, following: list[Folder]) -> None:
    """Let the node follow nobody, and its commits wait for one of these, if there is any: also for
    one that is away just now, as it may be asked for all that was acknowledged when it is back."""
    names = ", ".join(map(name_of, following))
    await _tell(node, {"synchronous_standby_names": f"ANY 1 ({names})" if names else ""})


async def _tell(node: Folder, settings: dict[str, str]) -> None:
    text = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
    if await DISK.run(node.read, REPLICATION.name) != text:
        await DISK.finish(_write, node, text)
        await Server(node).reload()


def _write(node: Folder, text: str) -> None:
    node.write(REPLICATION.name, text)
    os.chown(node.path / REPLICATION.name, *owner())


def share(node: Folder, password: str) -> None:
    """The node may follow others."""
    node.write(PASSWORDS.name, f"*:*:*:{REPLICAS}:{password}\n")
    os.chown(node.path / PASSWORDS.name, *owner())


def mark(data: Path, *, follows: bool) -> None:
    """Whether the server that starts next follows somebody (PostgreSQL, Hot Standby)."""
    signal = data / "standby.signal"
    if follows:
        signal.touch(mode=0o600)
        os.chown(signal, *owner())
    else:
        signal.unlink(missing_ok=True)


async def lead(server: Server) -> None:
    """Take writes, after what was received. Somebody who was killed may have told it before, so
    that it is done meanwhile. Raises EngineError."""
    with suppress(EngineError):
        if await server.value(_DOING, _LEAD) == "t":
            return
    if await follows(server):
        raise EngineError(f"{_DOING}: a replica does not take writes")


async def admit(server: Server, password: SecretStr) -> None:
    """Let others follow. Raises EngineError."""
    admitting = f"""
        do $$ begin
            if not exists (select from pg_catalog.pg_roles where rolname = '{REPLICAS}') then
                create role {REPLICAS};
            end if;
        end $$;
        alter role {REPLICAS} with login replication password '{password.get_secret_value()}';
        """  # That of a fork has another one than its source.
    await server.execute(_DOING, SecretStr(admitting))


async def follows(server: Server) -> bool:
    """Whether it is one that takes no writes. Raises EngineError."""
    return await server.value(_DOING, _FOLLOWS) == "t"


async def knows(server: Server) -> bool | None:
    """Whether a replica knows up to where it has received; None of what is no replica. One that was
    started anew asks for more only when it has read all that it had. Raises EngineError."""
    follows, asks = (await server.execute(_DOING, SecretStr(_KNOWS), quiet=True)).split()
    return asks == "t" if follows == "t" else None


async def streams(server: Server, source: Source) -> bool:
    """Whether it receives what the source writes. Raises EngineError."""
    return await server.value(_DOING, _STREAMING) == str(source.port)


async def halt(node: Folder) -> int:
    """Up to where a replica has received what a primary wrote that is dead: it receives no more,
    and keeps what it has. Raises EngineError."""
    await _tell(node, {})
    server = Server(node)
    deadline = time.monotonic() + _END_SECONDS
    while True:
        streaming, position = (await server.execute(_DOING, SecretStr(_RECEIVED))).split()
        if streaming == "0":
            return int(position)
        if time.monotonic() > deadline:
            raise EngineError(f"{_DOING}: a replica goes on receiving")
        await asyncio.sleep(_POLL_SECONDS)


async def last_record(node: Folder) -> int:
    """Where the last record begins that a server has written which was stopped in peace: that it
    has done so. Raises EngineError."""
    asking = f"--pgdata={INSIDE / node.data.name}"
    text = await run_within(_DOING, node, node.major, "pg_controldata", asking)
    told = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    if told.get("Database cluster state", "").strip() != "shut down":
        raise EngineError(f"{_DOING}: the former primary has not ended in peace")
    return position_of(told["Latest checkpoint location"].strip())


async def written(server: Server) -> int:
    """Up to where it has written."""
    return int(await server.value(_DOING, _WRITTEN))


async def has_applied(server: Server, position: int, seconds: float, near: int = _NEAR) -> bool:
    """Whether it has, within so many seconds, all but `near` bytes up to there. EngineError."""
    deadline = time.monotonic() + seconds
    while int(await server.value(_DOING, _APPLIED)) + near < position:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


async def end_copying(node: Folder) -> None:
    """A copy whose caller was killed goes on, and would write among what comes now. Raises
    EngineError."""
    while (process := await DISK.run(search_process, _label(node))) is not None:
        process.kill(signal.SIGKILL)
        if not await process.gone(_END_SECONDS):
            raise EngineError(f"{_CLONING}: a former copy does not end")


def _label(node: Folder) -> str:
    return f"--label={node.marker.partition('=')[2]}"


async def clone(node: Folder, major: str, source: Source) -> None:
    """Let the data of a node without a server be those of the source, which goes on."""
    await end_copying(node)
    await DISK.finish(empty, node.new_data)
    await DISK.finish(give, node.new_data, owner())
    login, target = f"--dbname={source.login(node)}", f"--pgdata={INSIDE / node.new_data.name}"
    how = ("--wal-method=stream", "--checkpoint=fast", "--no-password", _label(node))
    await run_within(_CLONING, node, major, "pg_basebackup", login, target, *how)
    await DISK.finish(mark, node.new_data, follows=True)
    await DISK.finish(replace, node)
