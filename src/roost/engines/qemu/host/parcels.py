"""Directories of guests, backups and volumes on their way to another host: as tar, with holes."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

from roost.endings import Ending
from roost.engines.qemu.host.files import move, sync
from roost.engines.qemu.host.programs import failure
from roost.threads import DISK

_PIECE = 1 << 20
_ARRIVING = "arriving"
"""Beside what has arrived: the folder of what is on its way."""


async def pack(doing: str, root: Path, names: Sequence[str]) -> AsyncGenerator[bytes, None]:
    """What these directories hold, with owners, but for sockets. Raises EngineError."""
    command = ("tar", "--create", "--sparse", "--numeric-owner", "--warning=no-file-ignored")
    process = await asyncio.create_subprocess_exec(
        *command,
        f"--directory={root}",
        "--",
        *names,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_PIECE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    said = asyncio.create_task(process.stderr.read())
    try:
        while piece := await process.stdout.read(_PIECE):
            yield piece
        if await process.wait() != 0:
            raise failure(doing, Ending.of(("tar",), process.returncode, await said))
    finally:
        await _end(process)
        said.cancel()


async def unpack(
    doing: str, root: Path, names: Sequence[str], content: AsyncIterator[bytes]
) -> None:
    """Let these directories be what was packed: all of one, or nothing of it, for good.

    What an earlier attempt has left is replaced. Raises OSError and EngineError.
    """
    part = root / _ARRIVING / names[0].replace("/", "-")
    await DISK.run(_clear, part)
    try:
        await _extract(doing, part, content)
        await DISK.run(_keep, part)
        for name in names:
            if (part / name).exists():
                await DISK.run(_discard, root / name)
                await move(part / name, root / name)
    finally:
        await DISK.run(_discard, part)


async def _extract(doing: str, part: Path, content: AsyncIterator[bytes]) -> None:
    process = await asyncio.create_subprocess_exec(
        *("tar", "--extract", "--numeric-owner", "--same-owner", "--preserve-permissions"),
        f"--directory={part}",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    said = asyncio.create_task(process.stderr.read())
    try:
        with suppress(BrokenPipeError, ConnectionResetError):  # It says why itself.
            async for piece in content:
                process.stdin.write(piece)
                await process.stdin.drain()
        process.stdin.close()
        if await process.wait() != 0:
            raise failure(doing, Ending.of(("tar",), process.returncode, await said))
    finally:
        await _end(process)
        said.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _clear(part: Path) -> None:
    _discard(part)
    part.mkdir(mode=0o700, parents=True)


def _keep(part: Path) -> None:
    sync(*(path for path in part.rglob("*") if path.is_file() or path.is_dir()), part)


def _discard(path: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(path)
