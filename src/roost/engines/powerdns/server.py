"""The pdns_server of a folder. It belongs to no process of Roost, and outlives them."""

import asyncio
import contextlib
import os
import time

import aiohttp
import structlog

from roost.core.engine import EngineError
from roost.engines.locks import locked
from roost.engines.powerdns.api import Place
from roost.engines.powerdns.folder import Folder
from roost.engines.processes import Process, end_process, find_process, search_process
from roost.threads import DISK

_log = structlog.get_logger(__name__)

PROGRAM = "pdns_server"
PROGRAM_PATH = f"{os.defpath}:/usr/sbin:/sbin"
_WRITE_PID = 'echo $$ > "$0" && exec "$@"'
_ENVIRONMENT = {"PATH": PROGRAM_PATH, "LC_ALL": "C.UTF-8"}
_START_SECONDS = 20.0
_STOP_SECONDS = 5.0
_KILL_SECONDS = 5.0
_POLL_SECONDS = 0.02
_TRIES = 5
"""Others may take a free port before the server does, and somebody may kill it meanwhile."""


class LocalServer:
    """Started by whoever needs it first; found again by its pid file and its arguments."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.launches = 0
        """How often this object has started it."""

    def process(self) -> Process | None:
        """The server while it runs."""
        return find_process(self.folder.pid_file, self.folder.marker)

    async def ensure(self) -> Place:
        """Start the server unless it runs. Raises EngineError."""
        if self.process() is None:
            self.folder.make()
            async with locked(self.folder.path):
                await self._start_unless_running()
        return self.folder.place()

    async def renew(self) -> None:
        """Start the server unless it runs, and replace one that runs with other settings."""
        self.folder.make()
        async with locked(self.folder.path):
            if await self._search() is not None and not self.folder.is_configured():
                await self._end()
            await self._start_unless_running()

    async def stop(self) -> None:
        """Raises EngineError when it does not end."""
        if self.folder.path.is_dir():
            async with locked(self.folder.path):
                await self._end()

    async def _search(self) -> Process | None:
        """Also one whose starter was killed before it wrote the pid file."""
        return self.process() or await DISK.run(search_process, self.folder.marker)

    async def _start_unless_running(self) -> None:
        found = await self._search()
        if found is not None:
            if await self._answers(found):
                self.folder.pid_file.write_text(str(found.pid))
                return
            await self._end()
        await self._prepare()
        for left in reversed(range(_TRIES)):
            self.folder.settle_ports()
            self.folder.configure()
            if await self._launch():
                self.launches += 1
                _log.info("name_server_started")
                return
            hangs = await self._search() is not None
            await self._end()
            if hangs or not left:
                raise self._failure()

    async def _prepare(self) -> None:
        try:
            await self.folder.prepare()
        except OSError as error:
            _log.error("name server data", error=str(error))
            raise EngineError("The name server's data cannot be prepared") from error

    async def _launch(self) -> bool:
        """Whether the server came up."""
        pid_file = self.folder.pid_file
        pid_file.unlink(missing_ok=True)
        with os.fdopen(self.folder.open_log(), "ab") as output:
            process = await asyncio.create_subprocess_exec(
                *("setsid", "--fork", "sh", "-c", _WRITE_PID, pid_file, PROGRAM),
                self.folder.marker,
                cwd=self.folder.path,
                env=_ENVIRONMENT,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            await process.wait()
        found = await self._spawned()
        return found is not None and await self._answers(found)

    async def _spawned(self) -> Process | None:
        """The shell writes its number, and then is the server."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError, ValueError):
                return Process(int(self.folder.pid_file.read_text()), self.folder.marker)
            await asyncio.sleep(_POLL_SECONDS)
        return None

    async def _answers(self, process: Process) -> bool:
        """Whether its API answers before it ends, or we lose patience."""
        place = self.folder.place()
        url, headers = f"{place.url}/api/v1/servers", {"X-API-Key": place.key}
        deadline = time.monotonic() + _START_SECONDS
        async with aiohttp.ClientSession(headers=headers) as session:
            while not process.ended() and time.monotonic() < deadline:
                if await _is_served(session, url):
                    return True
                await asyncio.sleep(_POLL_SECONDS)
        return False

    def _failure(self) -> EngineError:
        _log.error("name server does not start", log=self.folder.last_output())
        return EngineError("The name server does not start; the operator finds why in its log")

    async def _end(self) -> None:
        if not await end_process(self._search, _STOP_SECONDS, _KILL_SECONDS):
            raise EngineError("The name server does not end")


async def _is_served(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as answer:
            return answer.status == 200
    except aiohttp.ClientError:
        return False
