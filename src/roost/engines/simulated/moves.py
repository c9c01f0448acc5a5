"""What goes with a guest from one region's records to those of another."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from roost.core.engine import EngineError
from roost.engines.simulated.shelves import BACKUPS, DISKS, GUESTS, Backup, Disk, Guest
from roost.engines.simulated.state import Documents


@dataclass(frozen=True, slots=True)
class Moved:
    """A guest that is off, with all that is its own."""

    guest: Guest | None
    disks: list[Disk]
    backups: list[Backup]


MOVED = TypeAdapter(Moved)


def read(documents: Documents, compute_id: int | None, backups: Collection[int]) -> Moved:
    """What there is of it. EngineError when it runs."""
    guest = None if compute_id is None else GUESTS.find(documents, compute_id)
    if guest is not None and guest.started is not None:
        raise EngineError("The instance could not be moved: it runs")
    found = (BACKUPS.find(documents, each) for each in backups)
    return Moved(
        None if guest is None else replace(guest, addresses=None),
        [] if compute_id is None else DISKS.all(documents, compute_id),
        [backup for backup in found if backup is not None],
    )


def write(documents: Documents, moved: Moved) -> None:
    if moved.guest is not None:
        GUESTS.put(documents, moved.guest)
    for disk in moved.disks:
        DISKS.put(documents, disk)
    for backup in moved.backups:
        BACKUPS.put(documents, backup)


def remove(documents: Documents, moved: Moved) -> None:
    if moved.guest is not None:
        GUESTS.remove(documents, moved.guest.id)
    for disk in moved.disks:
        DISKS.remove(documents, (disk.compute_id, disk.id))
    for backup in moved.backups:
        BACKUPS.remove(documents, backup.id)
