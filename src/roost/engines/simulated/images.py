"""Private images that exist only as records."""

from dataclasses import replace

from roost.engines.simulated.disks import find_whole
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import IMAGES, Image
from roost.engines.simulated.state import Documents
from roost.resources.compute.disk_engine import DiskSpec, Progress, TooLargeError


class SimulatedImages:
    """An ImageEngine."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    async def capture(
        self, number: int, disk: DiskSpec, most: int, *, cloud_init: bool, progress: Progress
    ) -> int:
        await self._plane.fail_if_planned("image_capture")

        def begin(documents: Documents) -> Image:
            found = IMAGES.find(documents, number)
            if found is not None and found.whole:
                return found
            source = find_whole(documents, disk.compute_id, disk.id)
            if source.used > most:
                raise TooLargeError(f"The disk holds more than {most} MB")
            image = Image(number, source.size, source.content, source.used)
            IMAGES.put(documents, image)
            return image

        begun = await self._plane.transact(begin)
        if begun.whole:
            return begun.size
        await self._plane.plan.copy("image_capture", str(number), progress)

        def end(documents: Documents) -> None:
            if found := IMAGES.find(documents, number):
                IMAGES.put(documents, replace(found, whole=True))

        await self._plane.transact(end)
        return begun.size

    async def delete(self, number: int) -> None:
        await self._plane.fail_if_planned("image_delete")
        found = await self._plane.transact(lambda documents: IMAGES.find(documents, number))
        if found is None:
            return
        await self._plane.plan.wait("image_delete", str(number))
        await self._plane.transact(lambda documents: IMAGES.remove(documents, number))

    async def list(self) -> list[int]:
        return [image.id for image in await self._plane.transact(IMAGES.all) if image.whole]
