"""Running the programs of database servers, and saying what went wrong in words for owners."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog
from pydantic import SecretStr

from roost.core.engine import EngineError, FullError
from roost.endings import NOTHING_SAID, Ending, last_words
from roost.threads import DISK

_log = structlog.get_logger(__name__)

ENVIRONMENT = {"PATH": f"{os.defpath}:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}

NOTHING = SecretStr("")

Command = Sequence[str | Path]

PATIENT: Command = ("nice", "-n", "19", "ionice", "-c", "3")
"""What begins a command that leaves the processor and the disk to others."""


async def run(
    doing: str,
    command: Command,
    *,
    feed: SecretStr = NOTHING,
    cwd: Path | None = None,
    quiet: bool = False,
) -> str:
    """What the program prints. Raises EngineError, which begins with `doing`.

    `feed` is its input: secrets go there, as everybody can see arguments. `quiet`: that it may fail
    is expected, and not for the log.
    """
    with feeding(feed) as source:
        both = asyncio.subprocess.PIPE
        process = await _start(doing, command, source, both, both, cwd)
    try:
        out, err = await process.communicate()
    except BaseException:
        await _kill(process)
        raise
    if process.returncode != 0:
        ending = Ending.of(command, process.returncode, err)
        raise EngineError(doing) if quiet else failure(doing, ending)
    return out.decode(errors="replace")


@contextmanager
def feeding(text: SecretStr | None) -> Iterator[int]:
    """The input of a program. A file in memory, not a pipe: one that ends early then cannot fail us
    in the middle of a write."""
    with os.fdopen(os.memfd_create("feed"), "w+") as source:
        source.write("" if text is None else text.get_secret_value())
        source.seek(0)
        yield source.fileno()


async def pipe(
    doing: str, first: Command, second: Command, words: Path, cwd: Path | None = None
) -> None:
    """Let the second program read what the first one writes; `words` is for what both say."""
    reading, writing = os.pipe()
    started: list[asyncio.subprocess.Process] = []
    with words.open("wb") as log:
        try:
            none, said = asyncio.subprocess.DEVNULL, log.fileno()
            started.append(await _start(doing, first, none, writing, said, cwd))
            os.close(writing)
            writing = -1
            started.append(await _start(doing, second, reading, none, said, cwd))
            codes = [await process.wait() for process in reversed(started)]
        except BaseException:
            for process in started:
                await _kill(process)
            raise
        finally:
            os.close(reading)
            if writing >= 0:
                os.close(writing)
    if any(codes):
        text = await DISK.run(words.read_bytes)
        command, code = (second, codes[0]) if codes[0] else (first, codes[1])
        raise failure(doing, Ending.of(command, code, text))


async def _start(
    doing: str,
    command: Command,
    stdin: int,
    stdout: int,
    stderr: int,
    cwd: Path | None = None,
) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command, cwd=cwd, env=ENVIRONMENT, stdin=stdin, stdout=stdout, stderr=stderr
        )
    except OSError as error:
        raise failure(doing, f"{command[0]}: {error}") from error


async def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def failure(doing: str, detail: str | Ending) -> EngineError:
    """The error to raise after logging the end of `detail`."""
    text = last_words(str(detail))
    _log.warning("database_fault", doing=doing, detail=text or NOTHING_SAID)
    if "No space left on device" in text or "Disk full" in text:
        return FullError(f"{doing}: the host's disk is full")
    if isinstance(detail, Ending) and detail.is_silent:
        return EngineError(f"{doing}: a program of the host {detail.how}")
    return EngineError(f"{doing}: {'see the log of the host' if text else NOTHING_SAID}")
