"""What a backup remembers of disks, beside the copies that the engine keeps."""

from collections.abc import Sequence

from pydantic import Base64Bytes, BaseModel, TypeAdapter

from roost.resources.compute.disks.engine import Filesystem
from roost.resources.compute.disks.queries import DiskFacts, NewDisk


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
