"""What a backup remembers of disks and configs, beside the copies that the engine keeps."""

from collections.abc import Sequence

from pydantic import Base64Bytes, BaseModel, TypeAdapter

from roost.resources.compute.configs import copies
from roost.resources.compute.disks import queries as disk_queries
from roost.resources.compute.disks.engine import Filesystem
from roost.resources.compute.disks.queries import DiskFacts, NewDisk
from roost.store import Queries

NO_DISKS = "The Compute has no disks to back up."


class SavedDisk(BaseModel):
    """A disk as it was; `size` in MB."""

    id: int
    label: str
    size: int
    filesystem: Filesystem
    image: str | None
    setup: Base64Bytes | None
    """Sealed."""
    password_revision: int

    def for_instance(self, compute_id: int) -> NewDisk:
        """The same as a disk of this instance."""
        return NewDisk(
            compute_id=compute_id,
            label=self.label,
            size=self.size,
            filesystem=self.filesystem,
            image=self.image,
            setup=self.setup,
            password_revision=self.password_revision,
        )


DISKS = TypeAdapter(list[SavedDisk])


async def saveable(db: Queries, compute_id: int) -> list[DiskFacts]:
    """The disks that the engine holds."""
    return [disk for disk in await disk_queries.of_instance(db, compute_id) if disk.made]


async def content(db: Queries, compute_id: int) -> tuple[str, str]:
    """JSON of an instance's configs and of its disks as they are now."""
    configs = copies.CONFIGS.dump_json(await copies.read(db, compute_id)).decode()
    return configs, save(await saveable(db, compute_id))


def save(disks: Sequence[DiskFacts]) -> str:
    """JSON of disks, for `DISKS`."""
    saved = [
        SavedDisk.model_construct(
            id=disk.id,
            label=disk.label,
            size=disk.size,
            filesystem=disk.filesystem,
            image=disk.image,
            setup=disk.setup,
            password_revision=disk.password_revision,
        )
        for disk in disks
    ]
    return DISKS.dump_json(saved).decode()
