"""Running the host's programs, and saying what went wrong in words for the instance's owner."""

import asyncio
import os
from pathlib import Path

import structlog

from roost.resources.compute.engine import EngineError

_log = structlog.get_logger(__name__)

_KNOWN = {
    "No space left on device": "the host's disk is full",
    "Disk quota exceeded": "the host's disk quota is used up",
    "Cannot allocate memory": "the host is out of memory",
    "Input/output error": "the host's disk does not work",
    "Read-only file system": "the host's disk is read-only",
    "Operation not permitted": "the host does not permit it",
    "Permission denied": "the host does not permit it",
    'Failed to get "write" lock': "the disk is in use",
    "Device or resource busy": "the network attachment is in use",
}


async def run(doing: str, *command: str | Path, feed: str = "", cwd: Path | None = None) -> str:
    """What the program prints.

    Raises EngineError, which starts with `doing` (such as "The disk could not be made") and names
    no paths of the host; the operator finds the program's own words in the log.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise failure(doing, f"{command[0]}: {error}") from error
    try:
        out, err = await process.communicate(feed.encode())
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise failure(doing, err.decode(errors="replace"))
    return out.decode(errors="replace")


def failure(doing: str, detail: str | OSError) -> EngineError:
    """The error to raise after logging `detail`."""
    text = os.strerror(detail.errno or 0) if isinstance(detail, OSError) else detail
    _log.error("engine fault", doing=doing, detail=str(detail).strip())
    known = next((words for phrase, words in _KNOWN.items() if phrase in text), None)
    return EngineError(f"{doing}: {known or 'see the log of the host'}")
