"""Guests that go off, as the kernel tells it: a descriptor (pidfd) of each QEMU is waited for."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import structlog

from roost.engines.processes import Process
from roost.engines.qemu.guests.directory import Guest, running_guests
from roost.threads import DISK

_LOOK_AGAIN_SECONDS = 60.0
"""For guests that other processes have started."""
_NAMED = 100

_log = structlog.get_logger(__name__)


class Endings:
    """The endings of guests whose state is in `state_dir`.

    Nothing is followed while nobody listens.
    """

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self._descriptors: dict[int, int] = {}
        self._ended: asyncio.Queue[int] | None = None

    async def listen(self) -> AsyncGenerator[int, None]:
        """See InstanceEngine."""
        ended = self._ended = asyncio.Queue[int]()
        clock = asyncio.get_running_loop().time
        try:
            self._tell_adopted(await self._follow_all())
            look_again = clock() + _LOOK_AGAIN_SECONDS
            while True:
                try:
                    async with asyncio.timeout_at(look_again):
                        compute_id = await ended.get()
                except TimeoutError:
                    await self._follow_all()
                    look_again = clock() + _LOOK_AGAIN_SECONDS
                else:
                    yield compute_id
        finally:
            self._ended = None
            for compute_id in list(self._descriptors):
                self._let_go(compute_id)

    def follow(self, guest: Guest, process: Process) -> None:
        """Tell when this process of the guest ends."""
        if self._ended is None or guest.id in self._descriptors:
            return
        descriptor = process.open()
        if descriptor is None:
            self._ended.put_nowait(guest.id)
            return
        self._descriptors[guest.id] = descriptor
        asyncio.get_running_loop().add_reader(descriptor, self._report, guest.id)

    async def _follow_all(self) -> list[int]:
        guests = await DISK.run(running_guests, self._state_dir)
        for guest, process in guests:
            self.follow(guest, process)
        return [guest.id for guest, _ in guests]

    def _tell_adopted(self, compute_ids: list[int]) -> None:
        if compute_ids:
            _log.info(
                "guests_adopted",
                region=self._state_dir.name,
                count=len(compute_ids),
                guests=compute_ids[:_NAMED],
            )

    def _report(self, compute_id: int) -> None:
        self._let_go(compute_id)
        if self._ended is not None:
            self._ended.put_nowait(compute_id)

    def _let_go(self, compute_id: int) -> None:
        descriptor = self._descriptors.pop(compute_id)
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
