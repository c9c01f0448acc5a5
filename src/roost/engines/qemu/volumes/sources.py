"""How the QEMU of a guest gets at its volumes, wherever their data are."""

import os
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from roost.engines.qemu.guests.devices import Options, file_node
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.volumes.files import VolumeFile, holders
from roost.threads import DISK


@dataclass(frozen=True, slots=True)
class Opened:
    """A volume that is ready for a guest's QEMU, and for no other."""

    id: int
    below: Options
    """The node of its data."""
    descriptor: int | None = None
    """Of its file, which QEMU gets as the set of descriptors that has the volume's id."""
    secret: str | None = None
    """In base64: what `below` names as `secret_name`."""


class VolumeSource(Protocol):
    """Where the volumes of a region are."""

    def opened(
        self, guest: Guest, volume_ids: Collection[int]
    ) -> AbstractAsyncContextManager[Mapping[int, Opened]]:
        """The volumes for a guest that is about to get them; nobody else gets one until the end.

        NoDisksError for one that has no data; EngineError when another running guest has it.
        """


def secret_name(volume_id: int) -> str:
    """Of the object that holds the secret in a guest's QEMU."""
    return f"key-volume-{volume_id}"


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files of this host: QEMU itself keeps two guests from opening one."""

    state_dir: Path

    @asynccontextmanager
    async def opened(
        self, guest: Guest, volume_ids: Collection[int]
    ) -> AsyncIterator[Mapping[int, Opened]]:
        """See VolumeSource."""
        held = await DISK.run(holders, self.state_dir) if volume_ids else {}
        found = dict[int, Opened]()
        try:
            for each in volume_ids:
                descriptor = VolumeFile(self.state_dir, each).open(guest.id, held)
                found[each] = Opened(each, file_node(f"/dev/fdset/{each}"), descriptor)
            yield found
        finally:
            for opened in found.values():
                if opened.descriptor is not None:
                    os.close(opened.descriptor)
