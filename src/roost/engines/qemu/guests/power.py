"""Switching a guest's QEMU off: politely, firmly, at once."""

import asyncio
import signal
from contextlib import suppress

from roost.core.engine import EngineError
from roost.engines.processes import Process
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.monitor import MonitorError, press_power_button, quit_now

_PRESS_AGAIN_SECONDS = 3.0
_QUIT_SECONDS = 10.0
_KILL_SECONDS = 10.0


async def power_off(guest: Guest, grace: float) -> None:
    """Let the guest shut down within `grace` seconds, or else end its QEMU."""
    process = guest.process()
    if process is None or await _shut_down(guest, process, grace):
        return
    with suppress(MonitorError):
        await quit_now(guest.directory)
    if not await process.gone(_QUIT_SECONDS):
        await kill(process)


async def kill(process: Process) -> None:
    """End a guest's QEMU without regard to its data."""
    process.kill(signal.SIGKILL)
    if not await process.gone(_KILL_SECONDS):
        raise EngineError("The instance could not be stopped: its process does not end")


async def _shut_down(guest: Guest, process: Process, grace: float) -> bool:
    """Whether the guest shuts down within `grace` seconds, as its power button is pressed.

    One that still boots does not hear the button, so it is pressed repeatedly.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + grace
    while (left := deadline - clock()) > 0:
        with suppress(MonitorError):
            await press_power_button(guest.directory)
        if await process.gone(min(left, _PRESS_AGAIN_SECONDS)):
            return True
    return False
