"""What is installed of a program, which may become a newer release while Roost runs."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import structlog

from roost.core.engine import EngineError
from roost.threads import DISK

V = TypeVar("V")

_log = structlog.get_logger(__name__)


class Installed(Generic[V]):
    """What the program says of itself, asked again when its files have changed."""

    def __init__(
        self, known: V, files: Callable[[], Iterable[Path]], ask: Callable[[], Awaitable[V]]
    ) -> None:
        """`known`: what it said before; `files`: where it is now."""
        self.known = known
        self._files = files
        self._ask = ask
        self._seen: list[tuple[int, int, int]] | None = None

    async def refresh(self) -> None:
        """While a package is being replaced, what was known stays."""
        seen = await DISK.run(self._look)
        if seen == self._seen:
            return
        try:
            known = await self._ask()
        except EngineError as error:
            _log.info("release_not_known", reason=str(error))
            return
        if known != self.known:
            _log.info("release_changed", former=self.known, installed=known)
        self.known, self._seen = known, seen

    def _look(self) -> list[tuple[int, int, int]]:
        found = []
        for file in self._files():
            with suppress(OSError):
                status = file.stat()
                found.append((status.st_ino, status.st_size, status.st_mtime_ns))
        return found
