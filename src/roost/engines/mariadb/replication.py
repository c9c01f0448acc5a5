"""What servers of a cluster are told: whom to follow, and who takes writes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.mariadb.server import Server
from roost.engines.mariadb.users import identified_by, unchecked

USER = "roost_replication"
_DOING = "The nodes of the database could not be brought together"
CATCH_UP_SECONDS = 60
_POSITION = re.compile(
    r"[0-9]{1,10}-[0-9]{1,10}-[0-9]{1,20}(,[0-9]{1,10}-[0-9]{1,10}-[0-9]{1,20})*"
)
_DURABLE = "set global innodb_flush_log_at_trx_commit = 1; set global sync_binlog = 1;"
_DIFFERS = 1236
"""Whom it follows does not have what it asks for (ER_MASTER_FATAL_ERROR_READING_BINLOG)."""
_FAST = "set global innodb_flush_log_at_trx_commit = 2; set global sync_binlog = 0;"
"""Of a replica, which can fetch again what a loss of power takes."""


@dataclass(frozen=True, slots=True)
class Source:
    """Who is followed."""

    address: str
    port: int
    password: SecretStr


@dataclass(frozen=True, slots=True)
class Following:
    """How a replica stands."""

    port: int
    """Of whom it follows."""
    receives: bool
    applies: bool
    position: str
    """Up to where it has received (GTID)."""
    error: int
    """Of MariaDB, on which it has stopped to apply, or to receive, for good; 0: none."""


async def following(server: Server) -> Following | None:
    """None of a server that follows nobody."""
    rows = await server.rows(_DOING, "show slave status")
    if not rows:
        return None
    row = rows[0]
    return Following(
        int(row["Master_Port"]),
        row["Slave_IO_Running"] == "Yes",
        row["Slave_SQL_Running"] == "Yes",
        row["Gtid_IO_Pos"],
        _error_of(row),
    )


def _error_of(row: Mapping[str, str]) -> int:
    """That it cannot reach whom it follows is none, nor that it was told to receive no more."""
    applying, receiving = int(row["Last_SQL_Errno"]), int(row["Last_IO_Errno"])
    if row["Slave_SQL_Running"] == "No" and applying:
        return applying
    return receiving if receiving == _DIFFERS else 0


async def admit_replicas(server: Server, source: Source) -> None:
    """Replicas may follow the server, which takes writes."""
    user = f"'{USER}'@'{source.address}'"
    secret = identified_by(source.password.get_secret_value())
    await _tell(
        server,
        unchecked(f"create user if not exists {user} {secret}; alter user {user} {secret};")
        + f"grant replication slave on *.* to {user};",
    )


async def follow(server: Server, source: Source, position: str | None = None) -> None:
    """Apply what the source has from the server's own position on, or from this one, which is that
    of a copy without logs: they are to say where they begin."""
    start = "" if position is None else _begin_at(checked(position))
    await _tell(
        server,
        f"stop slave; set global event_scheduler = off; set global read_only = 1; {_FAST} {start}"
        f"change master to master_host = '{source.address}', master_port = {source.port},"
        f" master_user = '{USER}', master_password = '{source.password.get_secret_value()}',"
        " master_ssl = 1, master_use_gtid = slave_pos, master_connect_retry = 1;"
        "start slave;",
    )


async def receive(server: Server) -> None:
    """Again from whom it follows; what it has received, and is applying, stays."""
    await _tell(server, "start slave io_thread;")


def _begin_at(position: str) -> str:
    logs = f"set global gtid_binlog_state = '{position}'; flush local binary logs;"
    return f"reset master; {logs if position else ''} set global gtid_slave_pos = '{position}';"


async def halt(server: Server) -> str:
    """Receive no more, and keep what has been received; up to where that is.

    The applying thread must not stop: a start would throw away what it has not applied.
    """
    await _tell(server, "stop slave io_thread;")
    found = await following(server)
    if found is None:
        raise EngineError(f"{_DOING}: a replica follows nobody")
    return found.position


async def hold(server: Server) -> str:
    """Take no more writes of clients, once those under way are committed; the position then."""
    await _tell(server, "set global read_only = 1;")
    return await written(server)


async def written(server: Server) -> str:
    """Up to where it has written (GTID)."""
    [row] = await server.rows(_DOING, "select @@global.gtid_binlog_pos as position")
    return checked(row["position"])


async def catch_up(server: Server, position: str) -> None:
    """Returns when it has applied everything up to there. Raises EngineError."""
    if not await has_applied(server, position, CATCH_UP_SECONDS):
        raise EngineError(f"{_DOING}: a replica does not apply what it has received")


async def has_applied(server: Server, position: str, seconds: float) -> bool:
    """Whether it has, within so many seconds, everything up to there. Raises EngineError."""
    if not position:
        return True
    wait = f"select master_gtid_wait('{checked(position)}', {seconds})"
    return (await server.execute(_DOING, SecretStr(wait))).strip() == "0"


async def lead(server: Server, *, waits: bool) -> None:
    """Follow nobody and take writes; `waits`: until a replica has them too."""
    await _tell(
        server,
        f"stop slave; reset slave all; {_DURABLE}"
        f"set global rpl_semi_sync_master_enabled = {int(waits)}; set global read_only = 0;"
        "set global event_scheduler = on;",
    )


async def forget_history(server: Server) -> None:
    """What was restored has nothing to do with what the log of writes says."""
    await _tell(
        server, "stop slave; reset slave all; reset master; set global gtid_slave_pos = '';"
    )


def sequence(position: str) -> int:
    """How far a position is, among those of one cluster: its nodes share one domain."""
    return max((int(part.rsplit("-", 1)[1]) for part in position.split(",") if part), default=0)


def checked(position: str) -> str:
    """A position that a server told us, which goes into a statement. Raises EngineError."""
    if position and not (len(position) < 200 and _POSITION.fullmatch(position)):
        raise EngineError(f"{_DOING}: a position is none")
    return position


async def _tell(server: Server, statements: str) -> None:
    await server.execute(_DOING, SecretStr(statements))
