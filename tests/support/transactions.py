"""Nothing slow is done while a write's transaction is open: it would hold a connection and locks.

Slow is what waits for a thread, the network, a file or another program, and what computes for long:
hashes of passwords, zone files, pictures.
"""

import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import MethodType
from typing import ParamSpec, TypeVar

import dns.zonefile
import pytest
from argon2 import PasswordHasher
from passlib.hash import sha512_crypt
from PIL import Image

from roost.store import Connection, Store
from roost.store.pool import Pool
from roost.threads import Threads

_P = ParamSpec("_P")
_T = TypeVar("_T")

_SLOW_EVENTS = frozenset(
    ("open", "socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen")
)
_COMPUTING = (
    (PasswordHasher, "hash"),
    (PasswordHasher, "verify"),
    (sha512_crypt, "hash"),
    (dns.zonefile.Reader, "read"),
    (Image, "open"),
)

_IMPORTS = "<frozen importlib"
"""Of frames that import what is seldom needed: once for each process, by whoever comes first."""


class _Commit:
    """Tasks that a transaction has begun may outlive it."""

    def __init__(self) -> None:
        self.open = True


_commit: ContextVar[_Commit | None] = ContextVar("commit", default=None)

violations: list[str] = []
"""What was done, and from where; since the last test that looked."""


def install(patch: pytest.MonkeyPatch) -> None:
    """Watch all that this process does from now on, until the patch is undone."""
    patch.setattr(Store, "commit", _watched(Store.commit))
    patch.setattr(Pool, "take", _unwatched(Pool.take))
    patch.setattr(Threads, "run", _noted(Threads.run, "a thread"))
    for owner, name in _COMPUTING:
        function = getattr(owner, name)
        if isinstance(
            function, MethodType
        ):  # Of the class that it is called on, with its settings.
            patch.setattr(owner, name, classmethod(_noted(function.__func__, name)))
        else:
            patch.setattr(owner, name, _noted(function, name))
    sys.addaudithook(_hear)


def _watched(
    commit: Callable[[Store, Callable[[Connection], Awaitable[_T]]], Awaitable[_T]],
) -> Callable[[Store, Callable[[Connection], Awaitable[_T]]], Awaitable[_T]]:
    async def watch(store: Store, work: Callable[[Connection], Awaitable[_T]]) -> _T:
        async def watched(connection: Connection) -> _T:
            state = _Commit()
            before = _commit.set(state)
            try:
                return await work(connection)
            finally:
                state.open = False
                _commit.reset(before)

        return await commit(store, watched)

    return watch


def _unwatched(
    take: Callable[[Pool], Awaitable[Connection]],
) -> Callable[[Pool], Awaitable[Connection]]:
    """A pool may have to open another connection."""

    async def taken(pool: Pool) -> Connection:
        with _quiet():
            return await take(pool)

    return taken


def _noted(function: Callable[_P, _T], what: str) -> Callable[_P, _T]:
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        _note(what)
        return function(*args, **kwargs)

    return call


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event in _SLOW_EVENTS:
        _note(f"{event} {arguments[:1]}")


def _note(what: str) -> None:
    state = _commit.get()
    if state is not None and state.open:
        with _quiet():
            stack = traceback.extract_stack()
            if any(call.filename.startswith(_IMPORTS) for call in stack):
                return
            calls = [
                f"{call.filename.rpartition('src/')[2]}:{call.lineno} {call.name}"
                for call in stack
                if "/src/roost/" in call.filename and "/web/api.py" not in call.filename
            ]
        violations.append(f"{what} < {' < '.join(reversed(calls))}")


@contextmanager
def _quiet() -> Iterator[None]:
    before = _commit.set(None)
    try:
        yield
    finally:
        _commit.reset(before)
