"""The host's user that a guest's QEMU runs as: one for each guest, which owns only its disks.

The guest's directory and all else in it stay root's. So a QEMU that its guest has taken over
reaches nothing of the host and of other guests, and cannot lead root astray by a link. What works
on the guest's disks runs as that user too: a guest chooses what is on them, and a QEMU that it has
taken over even what a qcow2 file says that it rests on.
"""

import os
import stat
from collections.abc import Container, Sequence
from pathlib import Path

from roost.engines.qemu.guests.directory import (
    CONSOLE,
    FIRMWARE,
    RESCUE_DISK,
    RESCUE_IMAGE,
    SEED,
    Guest,
)
from roost.engines.qemu.guests.disk_files import disk_ids
from roost.engines.qemu.host.kvm import kvm_groups
from roost.engines.qemu.host.programs import Listener, run

_FIRST, _COUNT = 1_900_000_000, 200_000_000
"""Of the numbers that neither Debian nor systemd gives to anybody."""


def user_of(guest: Guest) -> int:
    """The number of its user, and of that one's group."""
    return _FIRST + guest.id % _COUNT


def users_exist() -> bool:
    """Whether processes may have these users here; in a user namespace they may be missing."""
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    ranges = ((int(first), int(count)) for first, _, count in map(str.split, lines))
    return any(first <= _FIRST and first + count >= _FIRST + _COUNT for first, count in ranges)


def as_user_of(guest: Guest) -> list[str]:
    """A command goes behind this to be run by the guest's user, without any privilege."""
    user, groups = user_of(guest), kvm_groups()
    return [
        *("setpriv", f"--reuid={user}", f"--regid={user}"),
        f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups",
        *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"),
    ]


def open_directory(guest: Guest) -> None:
    """Make the guest's directory, which only its user and root may enter."""
    guest.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.chown(guest.directory, 0, user_of(guest))
    guest.directory.chmod(0o710)


def hand_over(guest: Guest) -> None:
    """Let the guest's user read what its QEMU needs, and write to its disks and its console."""
    open_directory(guest)
    (guest.directory / CONSOLE).touch()
    disks = [guest.disk(each) for each in disk_ids(guest.directory)]
    own = [found.path for disk in disks if (found := disk.find()) is not None]
    for path in (*own, guest.directory / RESCUE_DISK, guest.directory / CONSOLE):
        if path.exists():
            give(guest, path)
    images = (disk.image_directory for disk in disks)
    names = (SEED, FIRMWARE, RESCUE_IMAGE)
    for path in (*images, *(guest.directory / name for name in names)):
        _let_read(path)


def give(guest: Guest, path: Path) -> None:
    """Let the file be the guest's user's alone."""
    user = user_of(guest)
    os.chown(path, user, user)
    path.chmod(0o600)


def _let_read(path: Path) -> None:
    if not path.exists():
        return
    for each in (path, *path.rglob("*")):
        each.chmod(0o755 if stat.S_ISDIR(each.stat().st_mode) else 0o644)


async def run_for(
    guest: Guest,
    doing: str,
    *command: str,
    files: Sequence[int] = (),
    ok: Container[int] = (0,),
    heard: Listener | None = None,
) -> str:
    """As `run`, in the guest's directory; `files` are open there as `/proc/self/fd/N`.

    The program ends when this process does.
    """
    alone = (*as_user_of(guest), "--pdeathsig=KILL")
    return await run(doing, *alone, *command, cwd=guest.directory, files=files, ok=ok, heard=heard)
