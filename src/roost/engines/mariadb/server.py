"""MariaDB's server of a folder."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from pydantic import SecretStr

from roost.engines.databases.folder import INSIDE
from roost.engines.databases.programs import Command, run
from roost.engines.databases.server import Server as AnyServer
from roost.engines.databases.server import owner_of, unprivileged
from roost.engines.databases.temporary import mounting
from roost.engines.mariadb.encryption import within
from roost.engines.mariadb.folder import Folder

USER = "mysql"
"""As whom servers run."""
_PING = SecretStr("select 1")
_CLIENT = ("mariadb", "--no-defaults", "--socket=socket", "--batch")
_GREETING_SECONDS = 3.0


def owner() -> tuple[int, int]:
    """User and group. KeyError when there is no such user."""
    return owner_of(USER)


class Server(AnyServer):
    def __init__(self, folder: Folder, manner: Command = ()) -> None:
        """`manner`: what begins the command by which it is started."""
        super().__init__(folder, manner)
        self._own = folder

    async def execute(self, doing: str, sql: SecretStr) -> str:
        """What the administrator's statements answer; secrets in them reach no argument."""
        return await run(doing, (*_CLIENT, "--skip-column-names"), feed=sql, cwd=self._folder.path)

    async def rows(self, doing: str, sql: str) -> list[dict[str, str]]:
        """What it answers, by the names of columns."""
        text = await run(doing, _CLIENT, feed=SecretStr(sql), cwd=self._folder.path)
        lines = [line.split("\t") for line in text.splitlines()]
        return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]

    async def greets(self) -> bool:
        """Whether it says the first word, as it does to everybody."""
        if self.process() is None:
            return True
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_GREETING_SECONDS):
                descriptor = os.open(self._folder.path, os.O_PATH | os.O_CLOEXEC)
                try:
                    # By the descriptor, as the path of a socket must be short.
                    path = f"/proc/self/fd/{descriptor}/socket"
                    reader, writer = await asyncio.open_unix_connection(path)
                finally:
                    os.close(descriptor)
                try:
                    await reader.readexactly(1)
                    return True
                finally:
                    writer.close()
        return False

    async def _ask(self) -> None:
        doing = "The database server does not answer"
        await run(doing, _CLIENT, feed=_PING, cwd=self._folder.path, quiet=True)

    def _command(self, key: SecretStr | None) -> Command:
        options = (f"--defaults-file={INSIDE / 'my.cnf'}", self._own.whose, self._own.marker)
        command = unprivileged(USER, "mariadbd", *options)
        return within(self._own, USER, key, command, mounting(self._own))

    def _former(self) -> tuple[Path, ...]:
        return *super()._former(), self._own.socket

    def _listens(self) -> bool:
        return self._own.socket.exists()
