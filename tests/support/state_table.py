"""What docs/operating.md says of each thing in the folder of all state."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

_PAGE = Path(__file__).parents[2] / "docs/operating.md"
_HEAD = "| in the state folder |"
_ALL = "**"
"""Whatever is below a folder."""


@dataclass(frozen=True, slots=True)
class Row:
    """Patterns of paths, and what brings back what they name."""

    patterns: tuple[str, ...]
    kept: str


def rows() -> list[Row]:
    lines = _PAGE.read_text().split(_HEAD, 1)[1].splitlines()[2:]
    found = list[Row]()
    for line in lines:
        if not line.startswith("|"):
            break
        named, _, kept = line.strip("| ").split(" | ")
        found.append(Row(tuple(re.findall(r"`([^`]+)`", named)), kept))
    return found


def unnamed(state: Path) -> list[str]:
    """Files, and folders that hold nothing, of which the table says nothing."""
    patterns = [pattern for row in rows() for pattern in row.patterns]
    return [path for path in _leaves(state) if not any(_matches(path, each) for each in patterns)]


def saved(state: Path) -> set[str]:
    """Files that are in the file of a backup, by what the table says."""
    patterns = [each for row in rows() if row.kept == "`roost backup`" for each in row.patterns]
    return {path for path in _leaves(state) if any(_matches(path, each) for each in patterns)}


def _leaves(state: Path) -> Iterator[str]:
    for path in sorted(state.rglob("*")):
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir()):
            yield path.relative_to(state).as_posix()


def _matches(path: str, pattern: str) -> bool:
    """Each `*` stands for what has no `/`; an empty folder goes with what could be in it."""
    wanted, parts = PurePosixPath(pattern).parts, PurePosixPath(path).parts
    if wanted[-1] == _ALL:
        wanted = wanted[:-1]
        parts = parts[: len(wanted)]
    return len(parts) <= len(wanted) and all(map(fnmatchcase, parts, wanted))
