"""The host's user that a guest's QEMU runs as: one for each guest, which owns only its disks.

The guest's directory and all else in it stay root's. So a QEMU that its guest has taken over
reaches nothing of the host and of other guests, and cannot lead root astray by a link.
"""

import os
import stat
from pathlib import Path

from roost.engines.qemu.guests import CONSOLE, FIRMWARE, IMAGE, ROOT, SEED, SWAP, Guest
from roost.engines.qemu.kvm import kvm_groups

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


def hand_over(guest: Guest) -> None:
    """Let the guest's user read what its QEMU needs, and write to its disks and its console.

    Only that user and root may enter the directory.
    """
    user = user_of(guest)
    os.chown(guest.directory, 0, user)
    guest.directory.chmod(0o710)
    (guest.directory / CONSOLE).touch()
    for path in (guest.directory / name for name in (ROOT, SWAP, CONSOLE)):
        if path.exists():
            os.chown(path, user, user)
            path.chmod(0o600)
    for name in (SEED, IMAGE, FIRMWARE):
        _let_read(guest.directory / name)


def _let_read(path: Path) -> None:
    if not path.exists():
        return
    for each in (path, *path.rglob("*")):
        each.chmod(0o755 if stat.S_ISDIR(each.stat().st_mode) else 0o644)
