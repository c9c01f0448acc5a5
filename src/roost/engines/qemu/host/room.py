"""What is left on this host for guests."""

import os
from pathlib import Path

from roost.core.engine import Folder, Host

_MEMORY = Path("/proc/meminfo")
_KB = 1024


def read_host(state_dir: Path) -> Host:
    """Raises OSError."""
    fields = dict(line.split(":", 1) for line in _MEMORY.read_text().splitlines())
    free, total = (int(fields[name].split()[0]) * _KB for name in ("MemAvailable", "MemTotal"))
    return Host(tuple(_folders(state_dir)), free, total, len(os.sched_getaffinity(0)))


def _folders(state_dir: Path) -> list[Folder]:
    """Volumes and backups only where they are mounted from elsewhere."""
    found: dict[int, Folder] = {}
    for path in (_existing(state_dir), state_dir / "volumes", state_dir / "backups"):
        if path.is_dir():
            held = os.statvfs(path)
            free, size = held.f_bavail * held.f_frsize, held.f_blocks * held.f_frsize
            found.setdefault(path.stat().st_dev, Folder(str(path), free, size))
    return list(found.values())


def _existing(path: Path) -> Path:
    """The folder, or where it is going to be."""
    return next(each for each in (path, *path.parents) if each.exists())
