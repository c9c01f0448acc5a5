"""The releases of PostgreSQL that Debian's packages have put on this host, side by side."""

from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.databases.programs import run

_ROOT = Path("/usr/lib/postgresql")


def program(major: str, name: str) -> Path:
    """One of a release series, such as `initdb` of `15`."""
    return _ROOT / major / "bin" / name


def installed(root: Path = _ROOT) -> list[str]:
    """The series of which there is a server, the newest first."""
    found = (path.parent.parent.name for path in root.glob("*/bin/postgres"))
    return sorted(filter(str.isdecimal, found), key=int, reverse=True)


async def versions() -> dict[str, str]:
    """What is installed of each series: `{"15": "15.18"}`. EngineError when there is none."""
    found = {}
    for major in installed():
        line = await run("PostgreSQL does not run", (program(major, "postgres"), "--version"))
        found[major] = line.split()[2]
    if not found:
        raise EngineError("PostgreSQL is not installed")
    return found
