"""The user of the host that the name server runs as."""

import os
import pwd
from pathlib import Path

from roost.engines.powerdns.config import Account

USER = "pdns"
"""Whom Debian's package makes."""

_SETGID, _SETUID, _SYS_CHROOT = 6, 7, 18


def account_for(folder: str, confined: bool) -> Account | None:
    """None where we are not root: then the server runs as ourselves.

    For root the server gives up its rights and, where it is `confined`, locks itself into its
    folder, as it could not reach that through folders that are root's alone.
    """
    if os.geteuid() != 0:
        return None
    return Account(USER, folder if confined else None)


def owner_of_data() -> tuple[int, int]:
    """User and group. KeyError when root has not installed PowerDNS."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    user = pwd.getpwnam(USER)
    return user.pw_uid, user.pw_gid


def rights_problem() -> str | None:
    """Why the server could not change its user here, or None."""
    if os.geteuid() != 0:
        return None
    try:
        owner_of_data()
    except KeyError:
        return f"there is no user {USER}"
    rights = _rights()
    if all(rights >> number & 1 for number in (_SETGID, _SETUID, _SYS_CHROOT)):
        return None
    return "root may not change its user or its root directory here"


def _rights() -> int:
    """The effective capabilities of this process, a bit each."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
