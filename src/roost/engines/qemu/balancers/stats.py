"""Asking a running HAProxy at its socket."""

import asyncio
import csv
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from roost.core.engine import EngineError
from roost.resources.nodebalancers.engine import NodeStatus

_SECONDS = 5.0
_MASTER_SECONDS, _POLL_SECONDS = 10.0, 0.005
_MOST = 64 * 1024 * 1024
"""Bytes of an answer."""


async def ask(socket: Path, command: str) -> str:
    """What it answers. Raises EngineError while nobody answers."""
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_unix_connection(str(socket), limit=_MOST)
            try:
                writer.write(f"{command}\n".encode())
                writer.write_eof()  # A master that has had another worker waits for it.
                return (await reader.read(-1)).decode()
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        raise EngineError("The region's NodeBalancers do not answer") from error


async def processes(master: Path) -> str:
    """What a master answers at its own socket. Raises EngineError when it does not in time.

    One that has just begun a worker comes there a little later, and heeds no signal before.
    """
    deadline = time.monotonic() + _MASTER_SECONDS
    while True:
        with suppress(EngineError):
            shown = await ask(master, "show proc")
            if shown:
                return shown
        if time.monotonic() > deadline:
            raise EngineError("The NodeBalancers of the region could not be changed")
        await asyncio.sleep(_POLL_SECONDS)


async def ask_worker(master: Path, command: str) -> str:
    """What the worker answers that the master has begun last. Raises EngineError, also while that
    one is too new to say anything.

    At a socket of their own one of before could still answer, until it knows of the other.
    """
    answer = await ask(master, f"@1 {command}")
    if not answer:
        raise EngineError("The region's NodeBalancers do not answer yet")
    return answer


async def in_force(master: Path) -> str | None:
    """The digest of the configuration of the last worker; None while it does not answer."""
    try:
        lines = (await ask_worker(master, "show info")).splitlines()
    except EngineError:
        return None
    found = (line.partition(": ")[2] for line in lines if line.startswith("description: "))
    return next(found, None)


def rows(text: str) -> Iterator[Mapping[str, str]]:
    """Of `show stat`."""
    yield from csv.DictReader(text.removeprefix("# ").splitlines())


def status_of(row: Mapping[str, str]) -> NodeStatus:
    """Of a server's row."""
    status = row["status"]
    if status == "no check":
        return "Unknown"
    return "UP" if status.startswith(("UP", "DRAIN", "NOLB")) else "DOWN"
