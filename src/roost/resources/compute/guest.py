"""Which engine has an instance's guest, and what the guest is given to set itself up."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from roost.core.engine import EngineError
from roost.resources.compute.engine import InstanceEngine
from roost.resources.compute.queries import InstanceFacts
from roost.secrets import Box, hash_guest_password
from roost.threads import COMPUTING


class SealedSetup(BaseModel):
    """What a guest applies that boots from a disk, kept sealed in the disk's row.

    The password is plain only until the disk is made.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    root_pass: str | None = None
    root_password_hash: str | None = None
    authorized_keys: list[str] = []
    user_data: str | None = None
    """Only on disks from before instances kept it themselves."""

    def seal(self, box: Box) -> bytes:
        return box.seal(self.model_dump_json().encode())

    @classmethod
    def unseal(cls, box: Box, sealed: bytes) -> "SealedSetup":
        return cls.model_validate_json(box.open(sealed))

    async def hashed(self) -> "SealedSetup":
        """The same without the plain password."""
        if self.root_pass is None:
            return self
        hashed = await COMPUTING.run(hash_guest_password, self.root_pass)
        return self.model_copy(update={"root_pass": None, "root_password_hash": hashed})


@dataclass(frozen=True, slots=True)
class InstanceEngines:
    """The engine of each region."""

    by_region: dict[str, InstanceEngine]

    def of(self, region: str) -> InstanceEngine:
        """Raises EngineError for a region that the catalogue no longer has."""
        engine = self.by_region.get(region)
        if engine is None:
            raise _not_served(region)
        return engine

    def holding(self, instance: InstanceFacts) -> InstanceEngine:
        """The engine of an instance's guest.

        Raises EngineError also when this process has another one in its region: that one would
        delete nothing, and addresses would be given back that the guest goes on using.
        """
        engine = self.of(instance.region)
        if instance.engine not in (engine.name, None):
            raise _not_served(instance.region)
        return engine


def _not_served(region: str) -> EngineError:
    return EngineError(f"Region {region} is not served by this worker.")
