"""Starting a guest's QEMU so that it outlives us."""

import asyncio
import errno
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from roost.core.engine import EngineError
from roost.endings import SILENT
from roost.engines.qemu.boot.boots import Boot
from roost.engines.qemu.boot.command import Machine, command
from roost.engines.qemu.guests.directory import MONITOR, PID, TERMINAL, Guest
from roost.engines.qemu.guests.monitor import MonitorError, answers
from roost.engines.qemu.guests.power import kill
from roost.engines.qemu.guests.sockets import listening
from roost.engines.qemu.guests.users import as_user_of, hand_over
from roost.engines.qemu.host.programs import BusyError, failure
from roost.resources.compute.engine import InstanceSpec
from roost.threads import DISK

_DOING = "The instance could not be started"
_START_SECONDS = 60.0
_POLL_SECONDS = 0.02
_WRITE_PID = f'echo $$ > {PID} && exec "$@"'
"""QEMU's own way needs a path that its user may follow from the root directory on."""
_KVM = re.compile(r"\bkvm|\bMSR\b", re.IGNORECASE)


class KvmError(EngineError):
    """QEMU has ended, as it cannot use this host's KVM."""


async def runs(guest: Guest) -> bool:
    """Whether the guest's QEMU runs; one that a killed control plane began is waited for."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_START_SECONDS):
            while guest.process() is None:
                if await DISK.run(guest.process, search=True) is None:
                    return False
                await asyncio.sleep(_POLL_SECONDS)
            return True
    raise failure(_DOING, "QEMU writes no pid file")


async def launch(
    guest: Guest,
    spec: InstanceSpec,
    machine: Machine,
    boot: Boot,
    taps: Sequence[int],
    *,
    waits: bool = False,
) -> None:
    """Start QEMU, and wait until it answers; EngineError when it ends before.

    `waits`: see `command`.
    """
    with (
        listening(guest.directory, MONITOR) as monitor,
        listening(guest.directory, TERMINAL) as terminal,
    ):
        secrets = dict[int, int]()
        try:
            for volume in boot.volumes.values():
                if volume.secret is not None:
                    secrets[volume.id] = _readable(volume.secret)
            command_line = command(
                guest, spec, machine, boot, taps, monitor, terminal, secrets, waits=waits
            )
            files = [each.descriptor for each in boot.volumes.values()]
            open_files = (each for each in files if each is not None)
            inherited = (*taps, monitor, terminal, *open_files, *secrets.values())
            await _run(guest, command_line, inherited)
        finally:
            for descriptor in secrets.values():
                os.close(descriptor)


def _readable(secret: str) -> int:
    """A file in memory: on a command line everybody would see it."""
    descriptor = os.memfd_create("secret")
    os.write(descriptor, secret.encode())
    return descriptor


async def _run(guest: Guest, arguments: Sequence[str], descriptors: Sequence[int]) -> None:
    (guest.directory / PID).unlink(missing_ok=True)
    hand_over(guest)
    async with _error_pipe() as (errors, inlet):
        await _spawn(guest, arguments, descriptors, inlet)
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
        raise _fault(ended.result().decode(errors="replace").strip() or f"QEMU: {SILENT}")
    if process := await DISK.run(guest.process, search=True):
        await kill(process)
    raise failure(_DOING, "QEMU does not answer")


def _fault(text: str) -> EngineError:
    """Why QEMU has ended: what it said last."""
    fault = failure(_DOING, text)
    last = text.strip().rpartition("\n")[2]
    if isinstance(fault, BusyError) or os.strerror(errno.ENOMEM) in last or not _KVM.search(last):
        return fault
    return KvmError(str(fault))


async def _spawn(
    guest: Guest, arguments: Sequence[str], descriptors: Sequence[int], errors: int
) -> None:
    """QEMU cannot make itself a daemon in its sandbox, so `setsid` gives it its session."""
    try:
        process = await asyncio.create_subprocess_exec(
            *("setsid", "--fork", "sh", "-c", _WRITE_PID, "sh"),
            *as_user_of(guest),
            *arguments,
            cwd=guest.directory,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=errors,
            pass_fds=descriptors,
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
