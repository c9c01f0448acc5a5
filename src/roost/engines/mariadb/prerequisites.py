"""Whether MariaDB servers can run on this host."""

import shutil
from pathlib import Path

from roost.engines.databases.prerequisites import problem_of
from roost.engines.databases.programs import ENVIRONMENT, run
from roost.engines.mariadb.server import USER

_SERVER = "mariadbd"
_PACKAGES = {
    _SERVER: "mariadb-server",
    "mariadb-install-db": "mariadb-server",
    "mariadb": "mariadb-client",
    "mariadb-tzinfo-to-sql": "mariadb-server",
    "mariadb-backup": "mariadb-backup",
    "mbstream": "mariadb-backup",
}


async def check(root: Path) -> str | None:
    """The reason why this host cannot run them, or None."""
    return await problem_of(root, USER, _PACKAGES)


def server_program() -> list[Path]:
    """Empty where there is none."""
    found = shutil.which(_SERVER, path=ENVIRONMENT["PATH"])
    return [] if found is None else [Path(found)]


async def server_version() -> str:
    """Such as `10.11.19`."""
    line = await run("MariaDB does not run", (_SERVER, "--version"))
    return line.partition("Ver ")[2].partition("-")[0]
