"""The user that runs PostgreSQL, which refuses to run as root.

An ordinary user runs it as itself. Root runs it in a user namespace, where root has another
number but still owns its files. Where namespaces are forbidden, as in most containers, another user
of the machine runs it, if need be with root's right to enter folders.
"""

import contextlib
import os
import pwd
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_NOBODY = 65534
_NAMESPACE = ("unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}")
_CAPABLE = (
    "setpriv",
    f"--reuid={_NOBODY}",
    f"--regid={_NOBODY}",
    "--clear-groups",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
    # Without it access(2), by which initdb looks for postgres, ignores the capability.
    "--securebits=+no_setuid_fixup",
)
_ENVIRONMENT: Mapping[str, str] = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class Identity:
    """Who starts the programs of PostgreSQL and owns its files."""

    uid: int
    gid: int
    prefix: tuple[str, ...] = ()

    def spawn(self, command: Sequence[str], output: IO[bytes] | int) -> subprocess.Popen[bytes]:
        """Start `command` apart from our terminal, with the environment that it needs only."""
        other = not self.prefix and self.uid != os.geteuid()
        return subprocess.Popen(  # noqa: S603
            [*self.prefix, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env=_ENVIRONMENT,
            start_new_session=True,
            user=self.uid if other else None,
            group=self.gid if other else None,
            extra_groups=[] if other else None,
        )

    def can(self, *command: str) -> bool:
        try:
            return self.spawn(command, subprocess.DEVNULL).wait() == 0
        except OSError:
            return False


def choose(directory: Path, program: Path) -> Identity:
    """Who shall run `program` on files below `directory`, which it comes to own.

    Raises PermissionError when root finds nobody who can.
    """
    if os.geteuid() != 0:
        return Identity(os.geteuid(), os.getegid())
    owner = directory.stat().st_uid
    for identity in _candidates(directory):
        if owner in (0, identity.uid) and _reaches(identity, directory, program):
            if owner != identity.uid:
                give(directory, identity)
            return identity
    raise PermissionError(
        "PostgreSQL does not run as root, user namespaces are not allowed here, and no other user "
        f"can read {program} and write to {directory}"
    )


def _candidates(directory: Path) -> Iterator[Identity]:
    yield Identity(0, 0, _NAMESPACE)
    for path in (directory, *directory.parents):
        owner = path.stat()
        if owner.st_uid != 0:
            yield Identity(owner.st_uid, owner.st_gid)
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            yield Identity(user.pw_uid, user.pw_gid)
    yield Identity(_NOBODY, _NOBODY, _CAPABLE)


def _reaches(identity: Identity, directory: Path, program: Path) -> bool:
    return identity.can(str(program), "--version") and identity.can("test", "-e", str(directory))


def give(directory: Path, identity: Identity) -> None:
    """Let who runs the server own all that is there."""
    for path in (directory, *directory.rglob("*")):
        os.chown(path, identity.uid, identity.gid, follow_symlinks=False)
