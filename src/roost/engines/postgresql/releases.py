"""The releases of PostgreSQL that Debian's packages have put on this host, side by side."""

from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.databases.programs import run

_ROOT = Path("/usr/lib/postgresql")


def program(major: str, name: str) -> Path:
    """One of a release series, such as `initdb` of `15`."""
    return _ROOT / major / "bin" / name


def servers() -> list[Path]:
    """The program of each series of which there is one, the newest first."""
    found = [path for path in _ROOT.glob("*/bin/postgres") if _series(path).isdecimal()]
    return sorted(found, key=lambda path: int(_series(path)), reverse=True)


def installed() -> list[str]:
    """The series of which there is a server, the newest first."""
    return list(map(_series, servers()))


def _series(server: Path) -> str:
    return server.parent.parent.name


async def versions() -> dict[str, str]:
    """What is installed of each series: `{"15": "15.18"}`. EngineError when there is none."""
    found = {}
    for major in installed():
        line = await run("PostgreSQL does not run", (program(major, "postgres"), "--version"))
        found[major] = line.split()[2]
    if not found:
        raise EngineError("PostgreSQL is not installed")
    return found
