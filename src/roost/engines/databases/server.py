"""The server of a folder. It belongs to no process of Roost, and outlives them."""

import asyncio
import contextlib
import os
import pwd
import signal
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.endings import SILENT, last_words
from roost.engines.databases.folder import Folder
from roost.engines.databases.limits import Limits
from roost.engines.databases.programs import ENVIRONMENT, Command, failure, feeding
from roost.engines.processes import Process, end_process, find_process, search_process
from roost.threads import DISK

_START_SECONDS, _STOP_SECONDS, _KILL_SECONDS = 60.0, 60.0, 10.0
_POLL_SECONDS = 0.005
_BEGIN = 'echo $$ > "$0" && if [ -e "$1" ]; then echo $$ > "$1"; fi && shift && exec "$@"'
"""It writes down its number, and joins the control group that it has, if any."""
_ANSWER_SECONDS = 4.0


def owner_of(user: str) -> tuple[int, int]:
    """User and group by number. KeyError when there is no such user."""
    entry = pwd.getpwnam(user)
    return entry.pw_uid, entry.pw_gid


def unprivileged(user: str, *command: str | Path) -> Command:
    """The command as somebody who can never be more than the user."""
    return (
        *("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"),
        *("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--", *command),
    )


class Server(ABC):
    """Started by whoever needs it first; found again by its pid file and its arguments."""

    asks_to_end: ClassVar[signal.Signals] = signal.SIGTERM
    """What lets it end soon, whoever is connected."""
    poll_seconds: ClassVar[float] = _POLL_SECONDS
    """Between two questions whether it serves."""

    def __init__(self, folder: Folder, manner: Command = ()) -> None:
        """`manner`: what begins the command by which it is started."""
        self._folder = folder
        self._manner = manner

    @abstractmethod
    def _command(self, key: SecretStr | None) -> Command:
        """What becomes the server, in a mount namespace of its own. `key`: of encrypted data, which
        is the command's input."""

    @abstractmethod
    async def _ask(self) -> None:
        """Returns when it answers a client. Raises EngineError."""

    @abstractmethod
    async def greets(self) -> bool:
        """Whether it says something to whoever connects; one that has ended is well here."""

    def _former(self) -> tuple[Path, ...]:
        """Files that a server which starts makes anew."""
        return self._folder.pid_file, self._folder.log

    def process(self) -> Process | None:
        """The server while it runs."""
        return find_process(self._folder.pid_file, self._folder.marker)

    async def start(self, key: SecretStr | None = None, seconds: float = _START_SECONDS) -> None:
        """Returns when it serves; one that runs already is kept. `key`: of encrypted data;
        `seconds`: for so long it may take. Raises EngineError."""
        if (found := await self._search()) is not None:
            if await self._serves(found, seconds):
                self._folder.pid_file.write_text(str(found.pid))
                return
            await self.stop()
        for former in self._former():
            former.unlink(missing_ok=True)
        await self._launch(key)
        started = await self._spawned()
        if started is None or not await self._serves(started, seconds):
            words = last_words(await DISK.run(self._said)) or SILENT
            await self.stop()
            raise failure("The database server does not start", words)

    async def stop(self) -> None:
        """Raises EngineError when it does not end."""
        asking = self.asks_to_end
        if not await end_process(self._search, _STOP_SECONDS, _KILL_SECONDS, asking):
            raise EngineError("The database server does not end")

    async def answers(self) -> bool:
        """Whether it does in a few seconds; one that hangs does not."""
        if self.process() is None:
            return False
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._ask()
        except (EngineError, TimeoutError):
            return False
        return True

    async def kill(self) -> None:
        """At once, whatever it does. Raises EngineError when it does not end."""
        while (process := await self._search()) is not None:
            process.kill(signal.SIGKILL)
            if not await process.gone(_KILL_SECONDS):
                raise EngineError("The database server does not end")

    def within(self) -> tuple[str, ...]:
        """What begins a command that sees the folder as the server does. EngineError when down."""
        process = self.process()
        if process is None:
            raise EngineError("The database server does not run")
        return "nsenter", "--mount", "--target", str(process.pid), "--"

    async def _search(self) -> Process | None:
        """Also one whose starter was killed before it wrote the pid file."""
        return self.process() or await DISK.run(search_process, self._folder.marker)

    async def _launch(self, key: SecretStr | None) -> None:
        """In a mount namespace of its own, in which the folder is somewhere that all can reach."""
        descriptor = os.open(self._folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as output, feeding(key) as source:
            process = await asyncio.create_subprocess_exec(
                *("setsid", "--fork", "sh", "-c", _BEGIN, self._folder.pid_file),
                Limits().group(self._folder) / "cgroup.procs",
                *(*self._manner, *self._command(key)),
                cwd="/",
                env=ENVIRONMENT,
                stdin=source,
                stdout=output,
                stderr=output,
            )
            await process.wait()

    async def _spawned(self) -> Process | None:
        """The shell writes its number, and then becomes the server."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError, ValueError):
                return Process(int(self._folder.pid_file.read_text()), self._folder.marker)
            await asyncio.sleep(_POLL_SECONDS)
        return None

    async def _serves(self, process: Process, seconds: float) -> bool:
        """Whether it answers before it ends, or we lose patience."""
        deadline = time.monotonic() + seconds
        while not process.ended() and time.monotonic() < deadline:
            if self._listens() and await self.answers():
                return True
            await asyncio.sleep(self.poll_seconds)
        return False

    def _listens(self) -> bool:
        """Whether it makes sense to ask it."""
        return True

    def _said(self) -> str:
        with contextlib.suppress(FileNotFoundError):
            return Path(self._folder.log).read_text(errors="replace")
        return ""
