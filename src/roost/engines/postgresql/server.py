"""PostgreSQL's server of a folder."""

import asyncio
import os
import signal
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases.folder import INSIDE
from roost.engines.databases.mounts import within
from roost.engines.databases.programs import Command, run
from roost.engines.databases.server import Server as AnyServer
from roost.engines.databases.server import owner_of, unprivileged
from roost.engines.databases.temporary import mounting
from roost.engines.postgresql.config import ADMINISTRATOR
from roost.engines.postgresql.folder import SOCKETS, Folder
from roost.engines.postgresql.releases import program
from roost.threads import DISK

USER = "postgres"
"""As whom servers run."""
OWN = "roost"
"""The database that Roost works in; nobody else can put anything there."""

_DOING = "The database server does not answer"
_WAITING_FOR_NOBODY = "set synchronous_commit = local"
"""What the administrator changes must not wait for replicas, which may be gone."""
_ASK_TLS = struct.pack("!ii", 8, 80877103)
"""To which every server says a word (PostgreSQL, Message Formats: SSLRequest)."""
_FEEDING = 'printf %s "$0" | "$@"'
_GREETING_SECONDS = 3.0
_RECOVERY_POLL_SECONDS = 0.1
_REST_SECONDS = 10.0


def owner() -> tuple[int, int]:
    """User and group. KeyError when there is no such user."""
    return owner_of(USER)


class Server(AnyServer):
    asks_to_end: ClassVar[signal.Signals] = signal.SIGINT
    """It would wait for its clients otherwise."""
    poll_seconds: ClassVar[float] = 0.1

    def __init__(self, folder: Folder, manner: Command = ()) -> None:
        """`manner`: what begins the command by which it is started."""
        super().__init__(folder, manner)
        self._own = folder

    async def execute(self, doing: str, sql: SecretStr, *, quiet: bool = False) -> str:
        """What the administrator's statements answer, each of which commits by itself; secrets in
        them reach no argument. Columns are separated by tabs."""
        shown = ("--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--field-separator=\t")
        command = (*self.tool("psql"), *shown, "--set=ON_ERROR_STOP=1", f"--dbname={OWN}")
        text = f"{_WAITING_FOR_NOBODY};\n{sql.get_secret_value()}"
        return await run(doing, command, feed=SecretStr(text), quiet=quiet)

    async def value(self, doing: str, sql: str) -> str:
        """The one value that it answers."""
        return (await self.execute(doing, SecretStr(sql))).strip()

    def tool(self, name: str) -> tuple[str | Path, ...]:
        """What begins a command that talks to it as its administrator. EngineError when down."""
        port = f"--port={self._own.port}"
        login = (f"--host={SOCKETS}", port, f"--username={ADMINISTRATOR}", "--no-password")
        return (*self.within(), program(self._own.major, name), *login)

    async def led(self) -> None:
        """Returns when it takes writes, however long it has to read the log of writes before.
        EngineError when it ends."""
        asking = "select pg_catalog.pg_is_in_recovery()"
        while True:
            if await self.value(_DOING, asking) == "f":
                return
            await asyncio.sleep(_RECOVERY_POLL_SECONDS)

    async def checkpoint(self) -> None:
        """It has less to do when it ends soon after. Raises EngineError."""
        await self.execute(_DOING, SecretStr("checkpoint"))

    async def reload(self) -> None:
        """What it reads of its configuration while it runs; nothing where it does not."""
        if (process := self.process()) is not None:
            process.kill(signal.SIGHUP)

    async def greets(self) -> bool:
        if self.process() is None:
            return True
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_GREETING_SECONDS):
                descriptor = os.open(self._own.sockets, os.O_PATH | os.O_CLOEXEC)
                try:
                    # By the descriptor, as the path of a socket must be short.
                    path = f"/proc/self/fd/{descriptor}/{self._own.socket.name}"
                    reader, writer = await asyncio.open_unix_connection(path)
                finally:
                    os.close(descriptor)
                try:
                    writer.write(_ASK_TLS)
                    await reader.readexactly(1)
                    return True
                finally:
                    writer.close()
        return False

    async def stop(self) -> None:
        await super().stop()
        await DISK.run(_end_rest, self._own)

    async def kill(self) -> None:
        await super().kill()
        await DISK.run(_end_rest, self._own)

    async def _ask(self) -> None:
        await self.execute(_DOING, SecretStr("select 1"), quiet=True)

    async def _launch(self, key: SecretStr | None) -> None:
        await DISK.run(_end_rest, self._own)
        await super()._launch(key)

    def _command(self, key: SecretStr | None) -> Command:
        settings = ("-D", INSIDE / "data", f"--config-file={INSIDE / 'postgresql.conf'}")
        server = program(self._own.major, "postgres")
        command = unprivileged(USER, server, *settings, self._own.marker)
        return within(self._own, USER, command, mounting(self._own))

    def _former(self) -> tuple[Path, ...]:
        """The number in its own file may be another process's by now."""
        socket = self._own.socket
        lock = socket.with_name(f"{socket.name}.lock")
        return *super()._former(), self._own.data / "postmaster.pid", socket, lock

    def _listens(self) -> bool:
        return self._own.socket.exists()


async def run_within(
    doing: str, folder: Folder, major: str, name: str, *options: str | Path, feed: str = ""
) -> str:
    """What a program of a series prints that works on a folder without a server. `feed`: its
    input, without secrets. Raises EngineError."""
    reading = ("sh", "-c", _FEEDING, feed) if feed else ()  # A shell outlives nobody's kill.
    command = unprivileged(USER, *reading, program(major, name), *options)
    return await run(doing, within(folder, USER, command))


def _end_rest(folder: Folder) -> None:
    """Processes of a server that was killed go on until they notice, with what they have open."""
    deadline = time.monotonic() + _REST_SECONDS
    while rest := _rest_of(folder):
        for pid in rest:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise EngineError("The database server does not end")
        time.sleep(_RECOVERY_POLL_SECONDS)


def _rest_of(folder: Folder) -> list[int]:
    """Processes that call themselves those of a server of the folder, and are not it."""
    title = f"postgres: {folder.marker.partition('=')[2]}: ".encode()
    user, _ = owner()
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            with suppress(OSError):
                if path.stat().st_uid == user and _command_of(path).startswith(title):
                    found.append(int(path.name))
    return found


def _command_of(process: Path) -> bytes:
    return (process / "cmdline").read_bytes()
