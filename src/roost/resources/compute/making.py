"""Disks become real: what jobs that make disks have in common."""

from collections.abc import Sequence

from roost.core.catalog import Catalog
from roost.resources.compute.disks.engine import Progress
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.engine import InstanceEngine
from roost.resources.compute.guest import SealedSetup
from roost.secrets import Box
from roost.services import Services


def awaits_image(services: Services, region: str, disks: Sequence[DiskFacts]) -> bool:
    """Whether the image of a disk is on its way to the region, but not there yet."""
    catalog = services.get(Catalog)
    return any(disk.image and catalog.awaits_image(region, disk.image) for disk in disks)


async def make(
    services: Services, engine: InstanceEngine, disks: Sequence[DiskFacts]
) -> dict[int, bytes | None]:
    """Make disks; returns the setups that their rows are to have from now on, by disk.

    The plain password is forgotten in them.
    """
    box, setups = services.get(Box), dict[int, bytes | None]()
    for disk in disks:
        await engine.disks.make(disk.spec)
        setups[disk.id] = await without_password(box, disk.setup)
    return setups


async def without_password(box: Box, sealed: bytes | None) -> bytes | None:
    """The same setup with a hash in place of a plain password."""
    if sealed is None:
        return None
    return (await SealedSetup.unseal(box, sealed).hashed()).seal(box)


def part_of(progress: Progress, number: int, count: int) -> Progress:
    """The progress of one copy of several, as a part of the whole."""

    async def report(percent: int) -> None:
        await progress((100 * number + percent) // count)

    return report
