"""The HAProxy of a region. It belongs to no process of Roost, and outlives them.

A master and its workers: told to by a signal, the master starts another worker with the new
configuration, to which it hands what is listened at, so that no connection is refused or cut.
"""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import structlog

from roost.core.engine import EngineError
from roost.engines.processes import Process, find_process
from roost.engines.qemu.balancers.stats import in_force, processes
from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.namespace import namespace_path

_log = structlog.get_logger(__name__)

PROGRAM = "haproxy"
PATH = f"{os.defpath}:/usr/sbin:/sbin"
_ENVIRONMENT = {"PATH": PATH, "LC_ALL": "C.UTF-8"}
_DOING = "The NodeBalancers of the region could not be changed"
_START_SECONDS = 10.0
_POLL_SECONDS = 0.01


def program() -> str | None:
    """Where it is; None where it is not installed."""
    return shutil.which(PROGRAM, path=PATH)


class Server:
    """In one namespace; whoever calls holds the folder's lock."""

    def __init__(self, folder: Path, namespace: str) -> None:
        self.folder = folder
        self._namespace = namespace
        self.config = folder / "haproxy.cfg"
        self.socket = folder / "stats.sock"
        self.master = folder / "master.sock"
        self._asked_at = f"{self.master},mode,600"
        self._pid_file = folder / "haproxy.pid"

    def process(self) -> Process | None:
        """The master, while it runs in the namespace that there is. One that cannot be asked, as a
        former version began it, is none."""
        found = find_process(self._pid_file, self._asked_at)
        return found if found is not None and self._is_inside(found) else None

    def _is_inside(self, process: Process) -> bool:
        try:
            own = Path(f"/proc/{process.pid}/ns/net").stat()
            return os.path.samestat(own, namespace_path(self._namespace).stat())
        except OSError:
            return False

    async def check(self, config: Path) -> None:
        """Raises EngineError for what it would not start with."""
        await run(_DOING, program() or PROGRAM, "-c", "-q", "-f", config)

    async def serve(self, digest: str) -> None:
        """With the configuration of that digest, when this returns; also where somebody ends the
        master meanwhile. Raises EngineError."""
        deadline = time.monotonic() + _START_SECONDS
        master = self.process()
        if master is None:
            await self.end()
            await self._start()
        elif await in_force(self.master) != digest:
            await processes(self.master)
            master.kill(signal.SIGUSR2)
        while not await self._serves(digest, deadline):
            await self.end()
            await self._start()

    async def _serves(self, digest: str, deadline: float) -> bool:
        """False when the master has ended. Raises EngineError when that time has passed."""
        master: Process | None = None
        while time.monotonic() < deadline:
            if await in_force(self.master) == digest:
                return True
            master = self.process() or master
            if master is not None and master.ended():
                return False
            await asyncio.sleep(_POLL_SECONDS)
        _log.error("haproxy_not_in_force", folder=str(self.folder))
        raise EngineError(f"{_DOING}: they do not answer")

    async def _start(self) -> None:
        self.socket.unlink(missing_ok=True)
        self._pid_file.unlink(missing_ok=True)
        with self.folder.joinpath("output").open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *("setsid", "--fork", "nsenter", f"--net={namespace_path(self._namespace)}"),
                *(program() or PROGRAM, "-W", "-db", "-f", self.config, "-p", self._pid_file),
                *("-S", self._asked_at),
                cwd="/",
                env=_ENVIRONMENT,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            await process.wait()

    async def end(self) -> None:
        """The master, and workers that are left of any."""
        for process in self._all():
            process.kill(signal.SIGKILL)
        for process in self._all():
            if not await process.gone(_START_SECONDS):
                raise EngineError("The NodeBalancers of the region do not end")

    def _all(self) -> list[Process]:
        return list(_processes(str(self.config)))


def _processes(marker: str) -> Iterator[Process]:
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            with suppress(OSError):
                found = Process(int(path.name), marker)
                if found.alive():
                    yield found
