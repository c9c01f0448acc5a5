"""The files that Roost puts into `roost/mini`, and the lists of what it takes from Debian."""

from importlib.resources import files
from pathlib import Path

_PROGRAMS = ("init", "rc", "late", "power")
_PRIVATE = ("shadow",)


def lines(name: str) -> list[str]:
    """The list `packages`, `files` (patterns) or `modules` of this package."""
    return files(__package__).joinpath(name).read_text().split()


def place(name: str, target: Path) -> None:
    """Write the file `name` of this package to `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(files(__package__).joinpath(name).read_bytes())
    target.chmod(0o755 if name in _PROGRAMS else 0o600 if name in _PRIVATE else 0o644)
