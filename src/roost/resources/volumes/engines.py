"""The volume engine of each region."""

from dataclasses import dataclass
from typing import Protocol

from roost.core.engine import EngineError
from roost.resources.volumes.engine import VolumeEngine


class Placed(Protocol):
    """What is known of a volume: where it is, and which engine holds its data."""

    @property
    def region(self) -> str: ...

    @property
    def engine(self) -> str: ...


@dataclass(frozen=True, slots=True)
class VolumeEngines:
    by_region: dict[str, VolumeEngine]

    def of(self, region: str) -> VolumeEngine:
        """Raises EngineError for a region that the catalogue no longer has."""
        engine = self.by_region.get(region)
        if engine is None:
            raise _not_served(region)
        return engine

    def holding(self, volume: Placed) -> VolumeEngine:
        """The engine of a volume's data.

        Raises EngineError also when this process has another one in its region, which knows
        nothing of the volume.
        """
        engine = self.of(volume.region)
        if volume.engine != engine.name:
            raise _not_served(volume.region)
        return engine


def _not_served(region: str) -> EngineError:
    return EngineError(f"Region {region} is not served by this worker.")
