"""The `weed` of a folder, and the gateway in front of it. Both belong to no process of Roost, and
outlive them."""

import asyncio
import contextlib
import json
import os
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import structlog

from roost.core.engine import EngineError
from roost.endings import SILENT, last_words
from roost.engines import gateway
from roost.engines.gateway import handover
from roost.engines.listeners import LOOPBACK
from roost.engines.locks import locked
from roost.engines.processes import Process, end_process, find_process, search_process
from roost.engines.seaweedfs import keeping
from roost.engines.seaweedfs.admin import Admin
from roost.engines.seaweedfs.http import send
from roost.engines.seaweedfs.ports import Ports
from roost.threads import DISK

_log = structlog.get_logger(__name__)

PROGRAM = Path(sys.executable).with_name("weed")
ROOT = "root"
"""The operator's own identity, and its access key."""

_MODULE = gateway.__name__
_WRITE_PID = 'umask 077 && echo $$ > "$0" && exec "$@"'
_START_SECONDS = 60.0
_STARTS, _PORT_IS_TAKEN = 5, "bind: address already in use"
"""Somebody else may take a port of it after that was found free, and before it listens there."""
_STOP_SECONDS = 1.2
"""The gateway's, and then that of the `weed` to which nobody writes any more. What that has said it
stored is in its files; until it is killed it deletes what deleted objects held (each 1.123 s). It
would wait 15 s for streams between its own parts, which never end."""
_KILL_SECONDS = 5.0
_VOLUMES_SECONDS = 15.0
_VOLUMES_ARE_KNOWN = " added volume server "
_POLL_SECONDS = 0.05
_SOCKETS = Path("/tmp")  # noqa: S108 - the program's own choice
_MEMORY = "400MiB"
"""Go's soft limit; without one it grows with large objects."""
_KEEPING_MEMORY = {"MALLOC_MMAP_THRESHOLD_": f"{4 << 20}", "MALLOC_TRIM_THRESHOLD_": f"{16 << 20}"}
"""The gateway's environment, for which each piece of a body would be new pages else."""
_NO_ORIGIN = "http://none.invalid"
"""Pages of no origin may use buckets without CORS."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is."""

    url: str
    """For S3 clients."""
    socket: Path
    """For us."""


class Server:
    """Started by whoever needs it first; found again by its pid files and its arguments."""

    def __init__(self, folder: Path, domain: str | None = None, min_free: int = 0) -> None:
        """`domain`: below which requests may name buckets as hosts; `min_free`: bytes that its disk
        keeps."""
        self._folder = folder.resolve()
        self._domain = domain
        self._min_free = min_free
        self._ports = Ports(self._folder)
        self._weed = _Program(self._folder / "pid", f"-s3.config={self._folder / 'operator.json'}")
        self._any_weed = _Program(self._folder / "pid", f"-dir={self._folder / 'data'}")
        """Also one that an older version of Roost has started."""
        pid = self._folder / "gateway.pid"
        self._gateway = _Program(pid, f"-code={self._folder}@{_code()}.{min_free}")
        self._any_gateway = _Program(pid, f"-settings={self._folder / 'gateway.json'}")

    @property
    def folder(self) -> Path:
        """All of it."""
        return self._folder

    @property
    def exists(self) -> bool:
        """Whether it was ever started, so that it may hold something."""
        return (self._folder / "data").is_dir()

    async def ensure(self) -> Place:
        """Start it unless it runs. Raises EngineError."""
        if self._weed.running() is None or self._gateway.running() is None:
            await DISK.run(self._make)
            async with locked(self._folder):
                await self._bring()
        return await DISK.run(self._place)

    async def _bring(self) -> None:
        weed = await self._weed.search()
        if weed is None or not self.exists:
            # It may serve a folder that was deleted, at ports that nobody knows any more.
            await self._end()
            await self._start()
        elif await self._gateway.search() is None:
            await self._end_program(self._any_gateway)
            await DISK.run(self._configure)
            await self._start_gateway()

    async def reserve(self) -> str:
        """The URL at which clients are going to find it, also before it is started."""
        await DISK.run(self._make)
        if not await self._has_ports():
            async with locked(self._folder):
                if not await self._has_ports():
                    await DISK.run(self._ports.settle)
        return (await DISK.run(self._place)).url

    def serving(self) -> Process | None:
        """Its gateway, if that runs."""
        return self._any_gateway.running()

    async def _has_ports(self) -> bool:
        """For good: a server that runs listens at them."""
        return await DISK.run(self._ports.are_settled) or await self._any_weed.search() is not None

    async def stop(self) -> None:
        """Raises EngineError when it does not end."""
        if not self._folder.is_dir():
            return
        async with locked(self._folder):
            await self._end()

    async def _end(self) -> None:
        for program in (self._any_gateway, self._any_weed):
            await self._end_program(program)
        await DISK.run(self._remove_sockets)

    def _remove_sockets(self) -> None:
        """Those that `weed` makes beside the folder, and leaves when it is killed."""
        with contextlib.suppress(FileNotFoundError):
            ports = {port for name, port in self._ports.read().items() if name != "s3"}
            for path in _SOCKETS.glob("seaweedfs-*.sock"):
                if path.stem.rpartition("-")[2] in map(str, ports):
                    with contextlib.suppress(OSError):
                        path.unlink()

    async def _end_program(self, program: "_Program") -> None:
        if not await end_process(program.search, _STOP_SECONDS, _KILL_SECONDS):
            raise EngineError("The object storage does not end")

    def _make(self) -> None:
        """The folder with the server's secret, which also signs the tokens of its filer."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(self._folder / "secret", flags, 0o600), "w") as file:
                file.write(secrets.token_hex(32))

    def _place(self) -> Place:
        return Place(f"http://{LOOPBACK}:{self._ports.read()['s3']}", self._folder / "admin.sock")

    def _configure(self) -> None:
        secret, ports = (self._folder / "secret").read_text(), self._ports.read()
        root = {
            "name": ROOT,
            "credentials": [{"accessKey": ROOT, "secretKey": secret}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        keeping.write(self._folder / "operator.json", json.dumps({"identities": [root]}))
        keeping.configure(self._folder, secret)
        settings = {
            "folder": str(self._folder),
            "port": ports["s3"],
            "upstream_port": ports["inner"],
            "upstream_secret": secret,
            "domain": self._domain,
            "min_free": self._min_free,
        }
        keeping.write(self._folder / "gateway.json", json.dumps(settings))

    def _arguments(self) -> list[str]:
        ports = {name: port for name, port in self._ports.read().items() if name != "s3"}
        return [
            *("-logtostderr=true", "server", f"-dir={self._folder / 'data'}"),
            *(f"-ip={LOOPBACK}", f"-ip.bind={LOOPBACK}"),
            *(f"{_option(name)}={port}" for name, port in ports.items()),
            *("-master.telemetry=false", "-master.electionTimeout=1s"),
            *("-master.volumeSizeLimitMB=128", "-master.volumePreallocate=false"),
            *("-master.resumeState=false", "-volume.max=20000", "-volume.preStopSeconds=0"),
            "-volume.minFreeSpace=1GiB",
            # Names of sockets are short, whatever the folder's is, in which it is started.
            *("-disableHttp", "-filer.localSocket=filer.sock", "-s3.localSocket=s3.sock"),
            *("-filer", "-s3", self._weed.marker, "-s3.iam=false"),
            *("-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.allowedOrigins={_NO_ORIGIN}"),
            *("-s3.allowDeleteBucketNotEmpty=true", "-s3.autoCreateBucket=false"),
        ]

    async def _start(self) -> None:
        (self._folder / "data").mkdir(mode=0o700, exist_ok=True)
        for left in reversed(range(_STARTS)):
            await self._start_weed()
            if await self._answers():
                break
            if not left or _PORT_IS_TAKEN not in await DISK.run(self._read, "server.log"):
                await self._give_up("server.log")
            await self._end()
        await self._until_volumes_are_known()
        await self._start_gateway()

    async def _start_weed(self) -> None:
        is_attended = handover.is_attended(self._folder)
        await DISK.run(self._ports.settle, is_attended=is_attended)
        await DISK.run(self._configure)
        environment = {"GOMEMLIMIT": _MEMORY, "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"}
        await self._spawn(self._weed, "server.log", environment, PROGRAM, *self._arguments())

    async def _until_volumes_are_known(self) -> None:
        """Its S3 answers before its master has heard of volumes, and objects cannot be read until
        then. No port tells (`-disableHttp`), but its log."""
        deadline = time.monotonic() + _VOLUMES_SECONDS
        while time.monotonic() < deadline and not self._weed.ended():
            if _VOLUMES_ARE_KNOWN in await DISK.run(self._read, "server.log"):
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def _start_gateway(self) -> None:
        command = (sys.executable, "-m", _MODULE, self._any_gateway.marker, self._gateway.marker)
        await self._spawn(self._gateway, "gateway.log", _KEEPING_MEMORY, *command)
        admin, deadline = Admin(self._folder / "admin.sock"), time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(EngineError):
                await admin.call("health")
                _log.info("object_storage_started")
                return
            if self._gateway.ended():
                break
            await asyncio.sleep(_POLL_SECONDS)
        await self._give_up("gateway.log")

    async def _give_up(self, log: str) -> None:
        words = await DISK.run(self._last_words, log)
        _log.warning("object_storage_fault", detail=words)
        await self._end()
        raise EngineError("The object storage does not start; its log says why")

    async def _spawn(
        self, program: "_Program", log: str, environment: Mapping[str, str], *command: str | Path
    ) -> None:
        program.pid_file.unlink(missing_ok=True)
        folder = str(self._folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(os.open(self._folder / log, flags, 0o600), "wb") as output:
            process = await asyncio.create_subprocess_exec(
                *("setsid", "--fork", "sh", "-c", _WRITE_PID, program.pid_file),
                *command,
                cwd=self._folder,
                env={"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, **environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            await process.wait()

    def _last_words(self, log: str) -> str:
        return last_words(self._read(log)) or SILENT

    def _read(self, log: str) -> str:
        return (self._folder / log).read_text(errors="replace")

    async def _answers(self) -> bool:
        """Whether it refuses strangers before we lose patience, and so knows its identities."""
        deadline, url = time.monotonic() + _START_SECONDS, self.inner_url()
        while time.monotonic() < deadline:
            with contextlib.suppress(EngineError):
                if (await send("GET", url)).status == 403:
                    return True
            if self._weed.ended():
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return False

    def inner_url(self) -> str:
        """The URL of the S3 behind the gateway, whose one key is the operator's."""
        return f"http://{LOOPBACK}:{self._ports.read()['inner']}"


@dataclass(frozen=True, slots=True)
class _Program:
    """One of the two, as it is found again."""

    pid_file: Path
    marker: str
    """One of its arguments."""

    def running(self) -> Process | None:
        return find_process(self.pid_file, self.marker)

    def ended(self) -> bool:
        """Whether it has begun, and runs no more; not while its shell becomes the program."""
        try:
            return Process(int(self.pid_file.read_text()), self.marker).ended()
        except (OSError, ValueError):
            return False

    async def search(self) -> Process | None:
        """Also one whose starter was killed before it wrote the pid file."""
        found = self.running()
        if found is None:
            found = await DISK.run(search_process, self.marker)
            if found is not None:
                self.pid_file.write_text(str(found.pid))
        return found


@cache
def _code() -> str:
    """A digest of the gateway's code: one with another code is replaced."""
    files = sorted(Path(gateway.__path__[0]).glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _option(port: str) -> str:
    """`-s3.port.grpc` for `s3.grpc`."""
    name, _, kind = port.partition(".")
    if name == "inner":
        return "-s3.port"
    return f"-{name}.port.{kind}" if kind else f"-{name}.port"
