"""The server of a folder. It belongs to no process of Roost, and outlives them."""

import asyncio
import contextlib
import os
import pwd
import signal
import time
from pathlib import Path

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.endings import SILENT, last_words
from roost.engines.mariadb.encryption import within
from roost.engines.mariadb.folder import INSIDE, Folder
from roost.engines.mariadb.limits import Limits
from roost.engines.mariadb.programs import ENVIRONMENT, Command, failure, feeding, run
from roost.engines.mariadb.temporary import mounting
from roost.engines.processes import Process, end_process, find_process, search_process
from roost.threads import DISK

USER = "mysql"
"""As whom servers run."""
_START_SECONDS, _STOP_SECONDS, _KILL_SECONDS = 60.0, 60.0, 10.0
_POLL_SECONDS = 0.005
_PING = SecretStr("select 1")
_BEGIN = 'echo $$ > "$0" && if [ -e "$1" ]; then echo $$ > "$1"; fi && shift && exec "$@"'
"""It writes down its number, and joins the control group that it has, if any."""
_CLIENT = ("mariadb", "--no-defaults", "--socket=socket", "--batch")
_ANSWER_SECONDS = 4.0


def owner() -> tuple[int, int]:
    """User and group. KeyError when there is no such user."""
    entry = pwd.getpwnam(USER)
    return entry.pw_uid, entry.pw_gid


class Server:
    """Started by whoever needs it first; found again by its pid file and its arguments."""

    def __init__(self, folder: Folder, manner: Command = ()) -> None:
        """`manner`: what begins the command by which it is started."""
        self._folder = folder
        self._manner = manner

    def process(self) -> Process | None:
        """The server while it runs."""
        return find_process(self._folder.pid_file, self._folder.marker)

    async def start(self, key: SecretStr | None) -> None:
        """Returns when it serves; one that runs already is kept. `key`: of encrypted data. Raises
        EngineError."""
        if (found := await self._search()) is not None:
            if await self._serves(found):
                self._folder.pid_file.write_text(str(found.pid))
                return
            await self.stop()
        for former in (self._folder.pid_file, self._folder.socket, self._folder.log):
            former.unlink(missing_ok=True)
        await self._launch(key)
        started = await self._spawned()
        if started is None or not await self._serves(started):
            words = last_words(await DISK.run(self._said)) or SILENT
            await self.stop()
            raise failure("The database server does not start", words)

    async def stop(self) -> None:
        """Raises EngineError when it does not end."""
        if not await end_process(self._search, _STOP_SECONDS, _KILL_SECONDS):
            raise EngineError("The database server does not end")

    async def execute(self, doing: str, sql: SecretStr) -> str:
        """What the administrator's statements answer; secrets in them reach no argument."""
        return await run(doing, (*_CLIENT, "--skip-column-names"), feed=sql, cwd=self._folder.path)

    async def rows(self, doing: str, sql: str) -> list[dict[str, str]]:
        """What it answers, by the names of columns."""
        text = await run(doing, _CLIENT, feed=SecretStr(sql), cwd=self._folder.path)
        lines = [line.split("\t") for line in text.splitlines()]
        return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]

    async def answers(self) -> bool:
        """Whether it does in a few seconds; one that hangs does not."""
        if self.process() is None:
            return False
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                doing = "The database server does not answer"
                await run(doing, _CLIENT, feed=_PING, cwd=self._folder.path, quiet=True)
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
        command = (
            *("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"),
            *("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--", "mariadbd"),
            *(f"--defaults-file={INSIDE / 'my.cnf'}", self._folder.whose, self._folder.marker),
        )
        descriptor = os.open(self._folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as output, feeding(key) as source:
            process = await asyncio.create_subprocess_exec(
                *("setsid", "--fork", "sh", "-c", _BEGIN, self._folder.pid_file),
                Limits().group(self._folder) / "cgroup.procs",
                *(*self._manner, *within(self._folder, USER, key, command, mounting(self._folder))),
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

    async def _serves(self, process: Process) -> bool:
        """Whether it answers before it ends, or we lose patience."""
        deadline = time.monotonic() + _START_SECONDS
        while not process.ended() and time.monotonic() < deadline:
            if self._folder.socket.exists() and await self.answers():
                return True
            await asyncio.sleep(_POLL_SECONDS)
        return False

    def _said(self) -> str:
        with contextlib.suppress(FileNotFoundError):
            return Path(self._folder.log).read_text(errors="replace")
        return ""
