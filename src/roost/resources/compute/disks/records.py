"""The record of a disk (reference: Disk), and what its row keeps for the guest."""

from typing import Literal

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Updated
from roost.resources.compute.disk_engine import Filesystem
from roost.resources.compute.engine import FirstBootScript
from roost.secrets import Box, hash_guest_password
from roost.threads import COMPUTING

DiskStatus = Literal["ready", "not ready", "deleting"]


class DiskRow(TypedDict):
    """A disk of an instance; `size` in MB."""

    id: Id
    label: Folded[str]
    """The name of the disk."""
    status: DiskStatus
    """`not ready` while a job works on it."""
    size: Filtered[int]
    """MB."""
    filesystem: Filesystem
    """What is on it; `raw` when Roost does not know."""
    created: Created
    updated: Updated


class SealedSetup(BaseModel):
    """What a guest applies that boots from a disk, kept sealed in the disk's row.

    The password is plain only until the disk is made.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    root_pass: str | None = None
    root_password_hash: str | None = None
    authorized_keys: list[str] = []
    script: FirstBootScript | None = None
    user_data: str | None = None
    """Only on disks from before instances kept it themselves."""

    def seal(self, box: Box) -> bytes:
        return box.seal(self.model_dump_json().encode())

    @classmethod
    def unseal(cls, box: Box, sealed: bytes) -> "SealedSetup":
        return cls.model_validate_json(box.open(sealed))

    async def hashed(self) -> "SealedSetup":
        """The setup without the plain password."""
        if self.root_pass is None:
            return self
        hashed = await COMPUTING.run(hash_guest_password, self.root_pass)
        return self.model_copy(update={"root_pass": None, "root_password_hash": hashed})
