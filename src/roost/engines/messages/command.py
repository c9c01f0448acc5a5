"""Messages by a program of the operator's."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from dataclasses import dataclass
from pathlib import Path

from roost.endings import Ending
from roost.resources.phone.engine import MessageError

_TIMEOUT = 10.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class CommandSender:
    """A MessageSender: the program is given the number as its argument, and the text on stdin."""

    program: Path

    async def send(self, number: str, text: str) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                self.program, number, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL
            )
        except OSError as error:
            raise MessageError(f"{self.program} cannot be run: {error.strerror}") from None
        try:
            async with asyncio.timeout(_TIMEOUT):
                await process.communicate(text.encode())
        except TimeoutError:
            raise MessageError(f"{self.program} took more than {_TIMEOUT:g} s") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode != 0:
            ending = Ending.of((self.program,), process.returncode, "")
            raise MessageError(f"{self.program} {ending.how}")
