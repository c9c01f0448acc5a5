"""What a server may take of its host, by its plan: memory, processors, input and output.

Control groups of version 2, which the kernel enforces; each server has one of its own. Where there
are none the host has no limits for servers, and the start-up table says so.
"""

import os
from contextlib import suppress
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.databases.folder import Folder
from roost.resources.databases.engine import DatabaseSpec

_TREE = Path("/sys/fs/cgroup")
_CONTROLLERS = ("cpu", "io", "memory")
_PERIOD = 100_000
"""Microseconds in which processor time is counted."""
_OPERATIONS, _BYTES = 4000, 200 * 1024 * 1024
"""A second, for each processor of the plan: of reads, and of writes."""
_MB = 1024 * 1024


class Limits:
    """The limits of the servers of one host."""

    def __init__(self, tree: Path = _TREE) -> None:
        """`tree`: where control groups are mounted."""
        self._tree = tree
        self._own = tree / "roost"

    def problem(self) -> str | None:
        """Why servers have no limits here, or None."""
        try:
            there = (self._tree / "cgroup.controllers").read_text().split()
        except OSError:
            return "control groups (version 2) are not mounted"
        if missing := [each for each in _CONTROLLERS if each not in there]:
            return f"control groups lack {', '.join(missing)}"
        try:
            self._prepare()
        except OSError as error:
            return f"control groups cannot be made: {error.strerror}"
        return None

    def put(self, node: Folder, spec: DatabaseSpec) -> None:
        """Those of the plan, from now on; nothing where there can be none. Raises EngineError."""
        if self.problem() is not None:
            return
        group, device = self.group(node), _device(node.path)
        try:
            group.mkdir(exist_ok=True)
            _write(group / "memory.max", f"{spec.memory * _MB}")
            _write(group / "memory.swap.max", "0", needed=False)
            _write(group / "cpu.max", f"{spec.vcpus * _PERIOD} {_PERIOD}")
            if device is not None:
                count, size = spec.vcpus * _OPERATIONS, spec.vcpus * _BYTES
                most = f"{device} rbps={size} wbps={size} riops={count} wiops={count}"
                _write(group / "io.max", most, needed=False)
        except OSError as error:
            raise EngineError(
                f"The limits of the plan could not be put in force: {error.strerror}"
            ) from error

    def group(self, node: Folder) -> Path:
        """That of a node's server."""
        return self._own / node.marker.partition("=")[2]

    def remove(self, node: Folder) -> None:
        """Remove a node's limits, if it has any, when its server has ended."""
        with suppress(OSError):
            self.group(node).rmdir()

    def _prepare(self) -> None:
        """Groups below ours can have limits."""
        self._own.mkdir(exist_ok=True)
        for parent in (self._tree, self._own):
            control = parent / "cgroup.subtree_control"
            if missing := set(_CONTROLLERS) - set(control.read_text().split()):
                _write(control, " ".join(f"+{each}" for each in sorted(missing)))


def _device(path: Path) -> str | None:
    """The disk that a path is on, by its numbers; None where that is no block device."""
    number = path.stat().st_dev
    place = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not place.exists():
        return None
    place = place.resolve()
    if (place / "partition").exists():
        place = place.parent
    return (place / "dev").read_text().strip()


def _write(path: Path, text: str, *, needed: bool = True) -> None:
    """`needed`: False of what a kernel or a disk may not have."""
    try:
        path.write_text(text)
    except OSError:
        if needed:
            raise
