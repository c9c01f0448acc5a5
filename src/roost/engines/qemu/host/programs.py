"""Running the host's programs, and saying what went wrong in words for the instance's owner."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from roost.core.engine import EngineError, FullError
from roost.endings import NOTHING_SAID, Ending, last_words

_log = structlog.get_logger(__name__)

_PATIENCE_SECONDS = 5.0
_POLL_SECONDS = 0.1

_PIECE = 4096

Listener = Callable[[str], Awaitable[None]]

_KNOWN = {
    "smaller than minimum": "what it holds needs more room",
    "Filesystem has unexpected inconsistency": "its file system is damaged",
    "UNEXPECTED INCONSISTENCY": "its file system is damaged",
    "Cannot allocate memory": "the host is out of memory",
    "Input/output error": "the host's disk does not work",
    "Read-only file system": "the host's disk is read-only",
    "': No such file or directory": "a file of it is gone from the host",
    "QEMU does not answer": "the instance does not answer",
    "Operation not permitted": "the host does not permit it",
    "Permission denied": "the host does not permit it",
}

_FULL = {
    "No space left on device": "the host's disk is full",
    "Disk quota exceeded": "the host's disk quota is used up",
}

_BUSY = {
    'Failed to get "write" lock': "the disk is in use",
    "Directory not empty": "the disk is in use",
    "Device or resource busy": "the network attachment is in use",
}


class BusyError(EngineError):
    """Something is still in use, perhaps by what a killed control plane began."""


async def patiently(work: Callable[[], Awaitable[object]]) -> None:
    """Do re-runnable work, again and again for some seconds while something is in use."""
    deadline = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
    while True:
        try:
            await work()
            return
        except BusyError:
            if asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(_POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended, and what it printed."""

    code: int
    """The exit status, or the number of a signal below zero."""
    out: str
    err: str


async def run(
    doing: str,
    *command: str | Path,
    feed: str = "",
    cwd: Path | None = None,
    files: Sequence[int] = (),
    ok: Container[int] = (0,),
    heard: Listener | None = None,
) -> str:
    """What the program prints; each piece of it, and of what it complains of, is `heard` at once.

    `files` are descriptors that it inherits, `ok` the exit codes of success. Raises EngineError,
    which starts with `doing` (such as "The disk could not be made") and names no paths of the
    host; the operator finds the program's own words in the log.
    """
    done = await finish(doing, *command, feed=feed, cwd=cwd, files=files, heard=heard)
    if done.code not in ok:
        raise failure(doing, Ending.of(command, done.code, done.err or done.out))
    return done.out


async def finish(
    doing: str,
    *command: str | Path,
    feed: str = "",
    cwd: Path | None = None,
    files: Sequence[int] = (),
    heard: Listener | None = None,
) -> Done:
    """Run a program to its end, whichever that is; EngineError where there is no such program."""
    # A file, not a pipe: a program that ends early then cannot fail us in the middle of a write.
    with os.fdopen(os.memfd_create("feed"), "w+") as source:
        source.write(feed)
        source.seek(0)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=cwd,
                stdin=source,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=files,
            )
        except OSError as error:
            raise failure(doing, f"{command[0]}: {error}") from error
    try:
        out, err = await asyncio.gather(_read(process.stdout, heard), _read(process.stderr, heard))
        code = await process.wait()
    except BaseException:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    return Done(code, out, err)


async def _read(pipe: asyncio.StreamReader | None, heard: Listener | None) -> str:
    text = ""
    while pipe is not None and (piece := await pipe.read(_PIECE)):
        text += (words := piece.decode(errors="replace"))
        if heard is not None:
            await heard(words)
    return text


def failure(doing: str, detail: str | OSError | Ending) -> EngineError:
    """The error to raise after logging `detail`."""
    text = os.strerror(detail.errno or 0) if isinstance(detail, OSError) else str(detail)
    _log.warning("engine fault", doing=doing, detail=last_words(str(detail)) or NOTHING_SAID)
    busy = _translate(text, _BUSY)
    if busy is not None:
        return BusyError(f"{doing}: {busy}")
    full = _translate(text, _FULL)
    if full is not None:
        return FullError(f"{doing}: {full}")
    return EngineError(f"{doing}: {_translate(text, _KNOWN) or _unknown(detail)}")


def _unknown(detail: str | OSError | Ending) -> str:
    """The log is named where it has more than this."""
    if isinstance(detail, Ending) and detail.is_silent:
        return f"a program of the host {detail.how}"
    return "see the log of the host" if str(detail).strip() else NOTHING_SAID


@contextmanager
def faults(doing: str) -> Iterator[None]:
    """Tell faults of the host's disk in words for the instance's owner."""
    try:
        yield
    except FileNotFoundError as error:
        raise EngineError(f"{doing}: it has been deleted") from error
    except OSError as error:
        raise failure(doing, error) from error


def _translate(text: str, known: dict[str, str]) -> str | None:
    return next((words for phrase, words in known.items() if phrase in text), None)
