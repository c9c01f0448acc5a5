"""Starting a guest's QEMU so that it outlives us."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from roost.engines.qemu.guests import MONITOR, PID, Guest
from roost.engines.qemu.monitor import MonitorError, answers
from roost.engines.qemu.programs import failure

_DOING = "The instance could not be started"
_START_SECONDS = 60.0
_POLL_SECONDS = 0.02


async def runs(guest: Guest) -> bool:
    """Whether the guest's QEMU runs; one that a killed control plane began is waited for."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_START_SECONDS):
            while guest.process() is None:
                if guest.process(search=True) is None:
                    return False
                await asyncio.sleep(_POLL_SECONDS)
            return True
    raise failure(_DOING, "QEMU writes no pid file")


async def launch(guest: Guest, command: Sequence[str], tap: int) -> None:
    """Returns when QEMU answers; EngineError when it ends before. `tap` is passed on to it."""
    for name in (MONITOR, PID):
        (guest.directory / name).unlink(missing_ok=True)
    async with _error_pipe() as (errors, descriptor):
        await _spawn(guest, command, tap, descriptor)
        ended = asyncio.create_task(errors.read())
        answered = asyncio.create_task(_answered(guest))
        try:
            done, _ = await asyncio.wait(
                (ended, answered), timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            ended.cancel()
            answered.cancel()
    if answered in done:
        return
    if ended in done:
        raise failure(_DOING, ended.result().decode(errors="replace"))
    if process := guest.process():
        process.kill(signal.SIGKILL)
    raise failure(_DOING, "QEMU does not answer")


async def _spawn(guest: Guest, command: Sequence[str], tap: int, errors: int) -> None:
    """QEMU cannot make itself a daemon in its sandbox, so `setsid` gives it its session."""
    try:
        process = await asyncio.create_subprocess_exec(
            "setsid",
            "--fork",
            *command,
            cwd=guest.directory,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=errors,
            pass_fds=(tap,),
        )
    except OSError as error:
        raise failure(_DOING, error) from error
    finally:
        os.close(errors)
    await process.wait()


async def _answered(guest: Guest) -> None:
    while True:
        try:
            return await answers(guest.directory)
        except MonitorError:
            await asyncio.sleep(_POLL_SECONDS)


@asynccontextmanager
async def _error_pipe() -> AsyncIterator[tuple[asyncio.StreamReader, int]]:
    """A reader of what a process writes to the descriptor, which ends when the process does."""
    outlet, inlet = os.pipe()
    errors = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(errors), os.fdopen(outlet, "rb")
    )
    try:
        yield errors, inlet
    finally:
        transport.close()
