"""Whether MariaDB servers can run on this host."""

from pathlib import Path

from roost.engines.databases.prerequisites import problem_of
from roost.engines.databases.programs import run
from roost.engines.mariadb.server import USER

_PACKAGES = {
    "mariadbd": "mariadb-server",
    "mariadb-install-db": "mariadb-server",
    "mariadb": "mariadb-client",
    "mariadb-tzinfo-to-sql": "mariadb-server",
    "mariadb-backup": "mariadb-backup",
    "mbstream": "mariadb-backup",
}


async def check(root: Path) -> str | None:
    """The reason why this host cannot run them, or None."""
    return await problem_of(root, USER, _PACKAGES)


async def server_version() -> str:
    """Such as `10.11.19`."""
    line = await run("MariaDB does not run", ("mariadbd", "--version"))
    return line.partition("Ver ")[2].partition("-")[0]
