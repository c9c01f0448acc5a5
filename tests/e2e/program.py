"""Processes of Roost as an operator runs them."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

ROOST = Path(sys.executable).with_name("roost")
ROOT = Path(__file__).parents[2]

_SECONDS = 120.0
"""For a busy host."""


class Program:
    """One process; what it logs is appended to a file."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self._log = log

    @classmethod
    async def start(
        cls, command: tuple[str | Path, ...], environment: Mapping[str, str], log: Path
    ) -> "Program":
        with log.open("ab") as errors:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
            )
        return cls(process, log)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    async def said(self, beginning: str) -> str:
        """The rest of the next line that begins so."""
        assert self._process.stdout is not None
        async with asyncio.timeout(_SECONDS):
            while line := await self._process.stdout.readline():
                if line.startswith(beginning.encode()):
                    return line.decode().removeprefix(beginning).strip()
        code = await self.ended()
        raise AssertionError(f"it ended with {code}:\n{self._log.read_text()[-4000:]}")

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    async def ended(self) -> int:
        """How it ended: a code, or the negative number of a signal."""
        async with asyncio.timeout(_SECONDS):
            return await self._process.wait()

    async def kill(self) -> None:
        """As by `kill -9`; nothing happens to one that has ended."""
        if self.running:
            self._process.kill()
        await self.ended()

    async def terminate(self) -> tuple[int, float]:
        """How it ends after SIGTERM, and after how many seconds."""
        began = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        return await self.ended(), time.monotonic() - began
