"""One server for each state folder, and what the commands beside it must know of it.

`serve.json` is locked while the server lives, so that a crash leaves no server behind that is
none; what it says of engines and catalogue holds until the next start.
"""

import asyncio
import fcntl
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ValidationError

from roost.errors import OperatorError
from roost.settings import Settings

_ANY = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - nobody listens here
_FILE = "serve.json"
_POLL_SECONDS = 0.05
_STOP_SECONDS = 30.0
_TRIES = 3


class ServedError(OperatorError):
    """A server of the state runs although none may, or does not stop."""


class Served(BaseModel):
    """How a state was served last."""

    pid: int
    engines: Literal["auto", "simulated", "local"]
    catalog: Path | None
    lab: bool = False
    url: str | None = None
    """Where the server listens, or did; None until its state is open."""


def near(url: str, path: str) -> str:
    """The address of a path, for a program on the machine of the server that listens at `url`."""
    parts = urlsplit(url)
    host = _ANY.get(parts.hostname or "", parts.netloc.rpartition(":")[0])
    return urlunsplit((parts.scheme, f"{host}:{parts.port}", path, "", ""))


def last_served(state: Path) -> Served | None:
    """None for a state that was never served."""
    try:
        return Served.model_validate_json((state / _FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def is_served(state: Path) -> bool:
    """Whether a server of the state lives at this moment."""
    with _opened(state) as descriptor:
        return not _lock(descriptor)


@contextmanager
def serving(settings: Settings) -> Iterator[Callable[[str | None], None]]:
    """Be the server of the state; raises ServedError when there is one.

    Gives what to call when the state is open, with the URL where it is served, if it is. Until then
    the one who starts may still be refused, and the engines and the catalogue of the last server
    hold.
    """
    settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _opened(settings.state) as descriptor:
        if not _lock_waiting(descriptor):
            raise ServedError(f"{settings.state} is being served already; see `roost down`")
        catalog = settings.catalog and settings.catalog.absolute()
        served = Served(
            pid=os.getpid(), engines=settings.engines, catalog=catalog, lab=settings.lab
        )
        before = last_served(settings.state) or served
        _write(descriptor, before.model_copy(update={"pid": served.pid, "url": None}))

        def opened(url: str | None) -> None:
            _write(descriptor, served.model_copy(update={"url": url}))

        yield opened


def _write(descriptor: int, served: Served) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, served.model_dump_json().encode(), 0)


@asynccontextmanager
async def stopped(state: Path) -> AsyncIterator[bool]:
    """Stop the server of a state, and keep others from starting until the end of the block.

    Gives whether one ran. Raises ServedError when it does not stop, or is not ours to stop.
    """
    with _opened(state) as descriptor:
        ran = not _lock(descriptor)
        if ran:
            await _stop(state, descriptor)
        yield ran


async def _stop(state: Path, descriptor: int) -> None:
    deadline, asked = time.monotonic() + _STOP_SECONDS, 0
    while not _lock(descriptor):
        if time.monotonic() > deadline:
            raise ServedError(f"the server of {state}, process {asked}, does not stop")
        served = last_served(state)
        if served is not None and served.pid != asked:
            _terminate(served.pid)
            asked = served.pid
        await asyncio.sleep(_POLL_SECONDS)


def _terminate(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise ServedError(f"process {pid} belongs to another user") from error


@contextmanager
def _opened(state: Path) -> Iterator[int]:
    descriptor = os.open(state / _FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock_waiting(descriptor: int) -> bool:
    """A command that only looks whether there is a server holds the lock for a moment."""
    for _ in range(_TRIES):
        if _lock(descriptor):
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
