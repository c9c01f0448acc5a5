"""What servers have in their own tables that nobody but Roost can put there."""

from pathlib import Path

from pydantic import SecretStr

from roost.engines.databases.programs import run
from roost.engines.mariadb.server import Server
from roost.threads import DISK

_LOADING = "The time zones could not be loaded"
_ZONES = Path("/usr/share/zoneinfo")
_HAS_ZONES = SecretStr("select count(*) > 0 from mysql.time_zone_name")


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
