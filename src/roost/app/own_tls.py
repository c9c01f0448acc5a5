"""The authority below a state, and the certificate of its server: what `roost tls` makes."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from roost.certificates import Authority, Owner, certificate_names
from roost.errors import OperatorError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_TITLE = "Roost"


@dataclass(frozen=True, slots=True)
class OwnTls:
    """Files for `--tls-cert` and `--tls-key`, and the authority for clients to trust."""

    certificate: Path
    key: Path
    authority: Path
    names: tuple[str, ...]
    until: datetime


def make_tls(state: Path, hosts: tuple[str, ...]) -> OwnTls:
    """A new certificate for the hosts and this one; without hosts for those that it was for before.

    The authority is made once. Raises OperatorError where that has expired, or files cannot be
    written.
    """
    folder = state / "tls"
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        with _locked(folder):
            return _make(folder, hosts, _owner(state))
    except (OSError, ValueError) as error:
        raise OperatorError(str(error)) from error


def read_authority(state: Path) -> str:
    """PEM; raises OperatorError where there is none."""
    path = state / "tls" / "ca.pem"
    try:
        return path.read_text().rstrip()
    except OSError as error:
        raise OperatorError(f"cannot read {path}: {error.strerror}; see `roost tls`") from error


def _make(folder: Path, hosts: tuple[str, ...], owner: Owner | None) -> OwnTls:
    certificate = folder / "certificate.pem"
    names = tuple(dict.fromkeys([*(hosts or certificate_names(certificate)), *LOOPBACK]))
    authority = Authority(folder, _TITLE)
    authority.ensure(owner)
    until = authority.issue(folder, names, owner)
    return OwnTls(certificate, folder / "key.pem", authority.certificate, names, until)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _owner(state: Path) -> Owner | None:
    """What root makes belongs to whoever has the state, and so serves it."""
    if os.geteuid() != 0:
        return None
    found = state.stat()
    return found.st_uid, found.st_gid
