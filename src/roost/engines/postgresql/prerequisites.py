"""Whether PostgreSQL servers can run on this host."""

from pathlib import Path

from roost.engines.databases.prerequisites import problem_of
from roost.engines.postgresql.releases import installed
from roost.engines.postgresql.server import USER


async def check(root: Path) -> str | None:
    """The reason why this host cannot run them, or None."""
    missing = () if installed() else ("postgresql",)
    return await problem_of(root, USER, {"tar": "tar"}, missing)
