"""The `weed` of a folder. It belongs to no process of Roost, and outlives them."""

import asyncio
import contextlib
import json
import os
import secrets
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import structlog

from roost.core.engine import EngineError
from roost.endings import SILENT, last_words
from roost.engines.listeners import LOOPBACK
from roost.engines.locks import locked
from roost.engines.processes import Process, end_process, find_process, search_process
from roost.engines.seaweedfs.http import send
from roost.engines.seaweedfs.ports import Ports
from roost.threads import DISK

_log = structlog.get_logger(__name__)

PROGRAM = Path(sys.executable).with_name("weed")
ROOT = "root"
"""The operator's own identity, and its access key."""

_WRITE_PID = 'echo $$ > "$0" && exec "$@"'
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_KILL_SECONDS = 5.0
_POLL_SECONDS = 0.05
_MEMORY = "400MiB"
"""Go's soft limit; without one it grows with large objects."""
_NO_ORIGIN = "http://none.invalid"
"""Pages of no origin may use buckets without CORS."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is, and how to be its operator."""

    url: str
    filer: str
    """Host and port of its gRPC."""
    metrics: tuple[str, ...]
    """The URLs of the counters of each gateway."""
    secret: str
    """That of the operator's key."""
    access_key: str = ROOT
    signing_key: str | None = None
    """By which the filer knows the operator; None: the secret."""


class Server:
    """Started by whoever needs it first; found again by its pid file and its arguments."""

    def __init__(self, folder: Path, domain: str | None = None) -> None:
        """`domain`: below which requests may name buckets as hosts."""
        self._folder = folder.resolve()
        self._domain = domain
        self._ports = Ports(self._folder)
        self._pid_file = self._folder / "pid"
        self._marker = f"-dir={self._folder / 'data'}"

    @property
    def exists(self) -> bool:
        """Whether it was ever started, so that it may hold something."""
        return (self._folder / "data").is_dir()

    async def ensure(self) -> Place:
        """Start it unless it runs. Raises EngineError."""
        if find_process(self._pid_file, self._marker) is None:
            await DISK.run(self._make)
            async with locked(self._folder):
                found = await self._search()
                if found is not None and not self.exists:
                    # It serves a folder that was deleted, at ports that nobody knows any more.
                    await self._end()
                    found = None
                if found is None:
                    await self._start()
        return await DISK.run(self._place)

    async def reserve(self) -> str:
        """The URL at which clients are going to find it, also before it is started."""
        await DISK.run(self._make)
        if not await self._has_ports():
            async with locked(self._folder):
                if not await self._has_ports():
                    await DISK.run(self._ports.settle)
        return (await DISK.run(self._place)).url

    async def _has_ports(self) -> bool:
        """For good: a server that runs listens at them."""
        return await DISK.run(self._ports.are_settled) or await self._search() is not None

    async def stop(self) -> None:
        """Raises EngineError when it does not end."""
        if not self._folder.is_dir():
            return
        async with locked(self._folder):
            await self._end()

    async def _end(self) -> None:
        if not await end_process(self._search, _STOP_SECONDS, _KILL_SECONDS):
            raise EngineError("The object storage does not end")

    async def _search(self) -> Process | None:
        """Also one whose starter was killed before it wrote the pid file."""
        found = find_process(self._pid_file, self._marker)
        if found is None:
            found = await DISK.run(search_process, self._marker)
            if found is not None:
                self._pid_file.write_text(str(found.pid))
        return found

    def _make(self) -> None:
        """The folder with the server's secret, which also signs the tokens of its filer."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            _write(self._folder / "secret", secrets.token_hex(32), os.O_EXCL)

    def _place(self) -> Place:
        ports, secret = self._ports.read(), (self._folder / "secret").read_text()
        return Place(
            f"http://{LOOPBACK}:{ports['s3']}",
            f"{LOOPBACK}:{ports['filer.grpc']}",
            (f"http://{LOOPBACK}:{ports['metrics']}/metrics",),
            secret,
        )

    def _configure(self) -> None:
        secret = (self._folder / "secret").read_text()
        root = {
            "name": ROOT,
            "credentials": [{"accessKey": ROOT, "secretKey": secret}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        _write(self._folder / "s3.json", json.dumps({"identities": [root]}))
        tables = ("jwt.filer_signing", "jwt.filer_signing.read", "jwt.signing", "jwt.signing.read")
        text = "".join(f'[{each}]\nkey = "{secret}"\n' for each in tables)
        _write(self._folder / "security.toml", text)

    def _arguments(self) -> list[str]:
        ports = self._ports.read()
        return [
            *("-logtostderr=true", "server", self._marker),
            *(f"-ip={LOOPBACK}", f"-ip.bind={LOOPBACK}"),
            *(f"{_option(name)}={port}" for name, port in ports.items()),
            *("-master.telemetry=false", "-master.electionTimeout=1s"),
            *("-master.volumeSizeLimitMB=128", "-master.volumePreallocate=false"),
            *("-master.resumeState=false", "-volume.max=20000", "-volume.preStopSeconds=0"),
            *("-filer", "-s3", f"-s3.config={self._folder / 's3.json'}", "-s3.iam=false"),
            *([] if self._domain is None else [f"-s3.domainName={self._domain}"]),
            *("-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.allowedOrigins={_NO_ORIGIN}"),
            *("-s3.allowDeleteBucketNotEmpty=false", "-s3.autoCreateBucket=false"),
        ]

    async def _start(self) -> None:
        (self._folder / "data").mkdir(mode=0o700, exist_ok=True)
        await DISK.run(self._ports.settle)
        await DISK.run(self._configure)
        self._pid_file.unlink(missing_ok=True)
        environment = {
            "PATH": os.defpath,
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder),
            "GOMEMLIMIT": _MEMORY,
            "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1",
        }
        with (self._folder / "server.log").open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *("setsid", "--fork", "sh", "-c", _WRITE_PID, self._pid_file, PROGRAM),
                *self._arguments(),
                cwd=self._folder,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            await process.wait()
        if not await self._answers():
            _log.warning("object_storage_fault", detail=await DISK.run(self._last_words))
            await self._end()
            raise EngineError("The object storage does not start; its log says why")
        _log.info("object_storage_started")

    def _last_words(self) -> str:
        return last_words((self._folder / "server.log").read_text(errors="replace")) or SILENT

    async def _answers(self) -> bool:
        """Whether it refuses strangers before we lose patience, and so knows its identities."""
        deadline, url = time.monotonic() + _START_SECONDS, self._place().url
        while time.monotonic() < deadline:
            with contextlib.suppress(EngineError):
                if (await send("GET", url)).status == 403:
                    return True
            await asyncio.sleep(_POLL_SECONDS)
        return False


def _option(port: str) -> str:
    """`-s3.port.grpc` for `s3.grpc`."""
    name, _, kind = port.partition(".")
    if name == "metrics":
        return "-metricsPort"
    return f"-{name}.port.{kind}" if kind else f"-{name}.port"


def _write(path: Path, text: str, flags: int = os.O_TRUNC) -> None:
    """For nobody else to read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
