"""Running the system's programs while an image is made, and making its root disk."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

from roost.endings import NOTHING_SAID, Ending
from roost.errors import OperatorError

IN_OWN_MOUNTS = ("unshare", "--mount", "--propagation=private", "--")
"""Before a command: what it mounts ends with it, however it ends. The host's own folders would
else stay mounted in a tree that somebody deletes."""


class ImageError(OperatorError):
    """An image cannot be built, imported or found; the text is meant for the operator."""


async def run(*command: str | Path, cwd: Path | None = None, feed: bytes | None = None) -> bytes:
    """What the program prints; ImageError when it is missing or fails."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            stdin=asyncio.subprocess.PIPE if feed is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise ImageError(f"{command[0]} is not installed") from error
    try:
        out, err = await process.communicate(feed)
    except asyncio.CancelledError:
        # Its children too: one that waits for a mirror would hold the pipes open.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        raise
    if process.returncode:
        raise ImageError(_failure(Ending.of(command, process.returncode, err)))
    return out


def _failure(ending: Ending) -> str:
    words = " / ".join(ending.said.splitlines()[-3:]) or NOTHING_SAID
    return f"{ending.program} {ending.how if ending.is_silent else 'failed'}: {words}"


async def make_disk(tree: Path, target: Path, size: int, label: str) -> None:
    """Write a qcow2 of `size` MB at `target`: one ext4 file system with the files of `tree`.

    It can grow to 1 TB while it is mounted.
    """
    raw = target.with_suffix(".raw")
    layout = ("-b", "4096", "-E", "lazy_itable_init=1,resize=268435456")
    await run("mkfs.ext4", "-q", "-F", "-L", label, *layout, "-d", tree, raw, f"{size}M")
    await run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", raw, target)
    raw.unlink()
