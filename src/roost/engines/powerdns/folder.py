"""The folder of a server: its ports, its key, its configuration, its log, its data."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from roost.core.engine import EngineError
from roost.endings import SILENT, last_words
from roost.engines.listeners import (
    LOOPBACK,
    Listener,
    ListenerError,
    is_free,
    tcp_port_is_free,
)
from roost.engines.locks import locked
from roost.engines.powerdns.accounts import account_for, owner_of_data
from roost.engines.powerdns.api import Place
from roost.engines.powerdns.backends import Backend
from roost.engines.powerdns.config import ConfigError, render
from roost.engines.powerdns.ports import Ports, choose_ports, read_ports

_LOG_BYTES = 4 * 1024 * 1024


class Folder:
    """All of it is ours alone, but for `data`, which is the server's."""

    def __init__(
        self, path: Path, backend: Backend, listeners: tuple[Listener, ...] | None
    ) -> None:
        """None as `listeners`: a free port of the loopback address."""
        self.path = path.resolve()
        self.pid_file = self.path / "pid"
        self._data = self.path / "data"
        self._configuration = self.path / "pdns.conf"
        self._log = self.path / "server.log"
        self._backend = backend
        self._listeners = listeners
        self._key: str | None = None
        self._change = asyncio.Lock()

    @property
    def marker(self) -> str:
        """The argument by which the server is told from all others of the host."""
        return f"--config-dir={self.path}"

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """Raises EngineError when no port is free."""
        return self._listeners or (Listener(LOOPBACK, self._ports().dns),)

    def make(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def place(self) -> Place:
        return Place(f"http://{LOOPBACK}:{self._ports().api}", self._read_key())

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """One change after another, of all processes, where the backend needs that."""
        if not self._backend.serial:
            yield
            return
        # Other tasks wait in line; other processes, which are few, try again and again.
        async with self._change, locked(self._data):
            yield

    async def prepare(self) -> None:
        """Make what the server needs to start. Raises EngineError or OSError."""
        owner = owner_of_data()
        self._data.mkdir(mode=0o700, exist_ok=True)
        os.chown(self._data, *owner)
        await self._backend.prepare(self._data, owner)

    def settle_ports(self) -> None:
        """Choose others for those that somebody has taken. Raises EngineError."""
        for listener in self._listeners or ():
            if not is_free(listener):
                raise EngineError(f"The name server cannot listen on {listener}")
        ports = self._ports()
        taken = self._listeners is None and not is_free(self.listeners[0])
        if taken or not tcp_port_is_free(ports.api):
            self._choose_ports()

    def is_configured(self) -> bool:
        """Whether the configuration is what it would be written as now."""
        try:
            return self._configuration.read_text() == self._render()
        except FileNotFoundError:
            return False

    def configure(self) -> None:
        """Raises EngineError."""
        partial = self._configuration.with_suffix(".part")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(self._render())
        partial.replace(self._configuration)

    def open_log(self) -> int:
        """A descriptor that appends."""
        return os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def trim_log(self) -> None:
        """The server appends, so that it does not mind."""
        with contextlib.suppress(FileNotFoundError):
            if self._log.stat().st_size > _LOG_BYTES:
                os.truncate(self._log, 0)

    def last_output(self) -> str:
        with contextlib.suppress(FileNotFoundError):
            return last_words(self._log.read_text(errors="replace")) or SILENT
        return SILENT

    def _render(self) -> str:
        """Paths of sockets may not be long, so they begin where the server is started: here."""
        account = account_for(self._data.name, self._backend.confined)
        inside = account is not None and account.root is not None
        seen = "/" if inside else str(self._data)
        try:
            return render(
                self.listeners,
                self._ports().api,
                self._read_key(),
                "/" if inside else ".",
                self._backend.settings(seen),
                account,
            )
        except ConfigError as error:
            raise EngineError(f"The name server cannot be configured: {error}") from error

    def _ports(self) -> Ports:
        self.make()
        try:
            return read_ports(self.path / "ports.json")
        except ListenerError as error:
            raise EngineError(f"The name server cannot start: {error}") from error

    def _choose_ports(self) -> None:
        try:
            choose_ports(self.path / "ports.json")
        except ListenerError as error:
            raise EngineError(f"The name server cannot start: {error}") from error

    def _read_key(self) -> str:
        if self._key is None:
            path = self.path / "api.key"
            with contextlib.suppress(FileExistsError):
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "w") as file:
                    file.write(secrets.token_hex(32))
            self._key = path.read_text()
        return self._key
