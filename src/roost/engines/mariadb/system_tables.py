"""What servers have in their own tables that nobody but Roost can put there."""

from pathlib import Path

from pydantic import SecretStr

from roost.engines.mariadb.programs import run
from roost.engines.mariadb.server import Server
from roost.threads import DISK

_LOADING = "The time zones could not be loaded"
_ZONES = Path("/usr/share/zoneinfo")
_HAS_ZONES = SecretStr("select count(*) > 0 from mysql.time_zone_name")
_DISABLED = r"""
    select db, name, definer from mysql.event where status = 'SLAVESIDE_DISABLED'
    and concat(db, name, definer) not regexp '[[:cntrl:]\\\\]'
    """
"""A name that is shown otherwise than it is written fits none."""


async def load_time_zones(server: Server) -> None:
    """Unless it has some, or the host has none. It keeps them to itself: each node is told, or a
    copy of one that was. Raises EngineError."""
    if (await server.execute(_LOADING, _HAS_ZONES)).strip() == "1":
        return
    if (zones := await read_time_zones()) is not None:
        await server.execute(_LOADING, zones)


async def read_time_zones() -> SecretStr | None:
    """SQL that loads those of the host; None when it has none. Raises EngineError."""
    if not await DISK.run(_ZONES.is_dir):
        return None
    reading = ("mariadb-tzinfo-to-sql", "--skip-write-binlog", _ZONES)
    return SecretStr(f"use mysql;\n{await run(_LOADING, reading)}")


async def enable_events(server: Server) -> None:
    """Those that did not run because the server followed another one, or is made of what one had
    that did. Raises EngineError."""
    doing = "Scheduled events could not be enabled"
    rows = await server.rows(doing, _DISABLED)
    if rows:
        altered = (
            f"alter definer = {_definer(row['definer'])}"
            f" event {_quoted(row['db'])}.{_quoted(row['name'])} enable;"
            for row in rows
        )
        await server.execute(doing, SecretStr(f"set session sql_log_bin = 0; {''.join(altered)}"))


def _definer(account: str) -> str:
    user, _, host = account.rpartition("@")
    return f"{_quoted(user)}@{_quoted(host)}"


def _quoted(name: str) -> str:
    return "`{}`".format(name.replace("`", "``"))
