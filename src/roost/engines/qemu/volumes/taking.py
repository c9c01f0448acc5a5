"""Working with a guest that runs, and waiting until it has let go of a volume."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.monitor import MonitorError
from roost.engines.qemu.host.programs import failure
from roost.engines.qemu.volumes import plugging
from roost.resources.compute.engine import MountedError

_UNMOUNT_SECONDS = 8.0
_LOOK_AGAIN_SECONDS = 0.2


async def ask(doing: str, guest: Guest, work: Callable[[], Awaitable[None]]) -> None:
    """Do something with a running guest; nothing when it went off meanwhile."""
    try:
        await work()
    except MonitorError as error:
        if guest.process() is not None:
            raise failure(doing, str(error)) from error


@contextmanager
def unless_deleted(guest: Guest) -> Iterator[None]:
    """A guest that is deleted meanwhile has nothing any more."""
    try:
        yield
    except FileNotFoundError:
        if guest.exists():
            raise


async def await_unmount(
    guest: Guest, volume_id: int, is_mounted: Callable[[], Awaitable[bool]]
) -> None:
    """Returns when the guest has let go of the volume; MountedError if it does not.

    A guest that never says that it has it open is judged by what it writes: what it has not written
    to since it was plugged in cannot be mounted for writing. `is_mounted`: what the data say.
    """
    clock, before = asyncio.get_running_loop().time, -1
    deadline = clock() + _UNMOUNT_SECONDS
    while True:
        use = await plugging.look(guest.directory, volume_id)
        is_still = use.writes == 0 or (use.writes == before and not await is_mounted())
        if not use.locked and is_still:
            return
        if clock() > deadline:
            raise MountedError(
                "The instance still uses the volume: unmount it first, or shut the instance down"
            )
        before = use.writes
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)
