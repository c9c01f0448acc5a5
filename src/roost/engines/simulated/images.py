"""Private images that exist only as records."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.simulated.disks import find_whole, refuse_running
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.shelves import IMAGES, Image
from roost.engines.simulated.state import Documents
from roost.resources.compute.disk_engine import DiskSpec, Progress, TooLargeError
from roost.threads import DISK

_MB = 1024 * 1024
_MARK = 64
"""Bytes at the beginning that stand for the rest."""


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

    async def set_aside(self, number: int, disk: DiskSpec, most: int) -> None:
        await self._plane.fail_if_planned("image_set_aside")

        def save(documents: Documents) -> None:
            if IMAGES.find(documents, number) is not None:
                return
            source = find_whole(documents, disk.compute_id, disk.id)
            refuse_running(documents, disk.compute_id, disk.id, "set aside")
            if source.used > most:
                raise TooLargeError(f"The disk holds more than {most} MB")
            image = Image(number, source.size, source.content, source.used, aside=True)
            IMAGES.put(documents, image)

        await self._plane.transact(save)

    async def finish(self, number: int, *, cloud_init: bool, progress: Progress) -> int:
        await self._plane.fail_if_planned("image_finish")
        found = await self._plane.transact(lambda documents: IMAGES.find(documents, number))
        if found is None:
            raise EngineError("The disk of which the image was to be made is gone")
        if not found.whole:
            await self._plane.plan.copy("image_finish", str(number), progress)
            whole = replace(found, whole=True, aside=False)
            await self._plane.transact(lambda documents: IMAGES.put(documents, whole))
        return found.size

    async def aside(self) -> Sequence[int]:
        return [image.id for image in await self._plane.survey(IMAGES.all) if image.aside]

    async def keep(
        self, number: int, source: Path, most: int, *, cloud_init: bool, progress: Progress
    ) -> int:
        await self._plane.fail_if_planned("image_keep")
        found = await self._plane.transact(lambda documents: IMAGES.find(documents, number))
        if found is not None and found.whole:
            return found.size
        try:
            image = await DISK.run(_read, number, source)
        except OSError as error:
            raise EngineError("What was uploaded is gone") from error
        if image.used > most:
            raise TooLargeError(f"The disk holds more than {most} MB")
        await self._plane.transact(lambda documents: IMAGES.put(documents, image))
        await self._plane.plan.copy("image_keep", str(number), progress)
        whole = replace(image, whole=True)
        await self._plane.transact(lambda documents: IMAGES.put(documents, whole))
        return image.size

    async def delete(self, number: int) -> None:
        await self._plane.fail_if_planned("image_delete")
        found = await self._plane.transact(lambda documents: IMAGES.find(documents, number))
        if found is None:
            return
        await self._plane.plan.wait("image_delete", str(number))
        await self._plane.transact(lambda documents: IMAGES.remove(documents, number))

    async def list(self) -> list[int]:
        return [image.id for image in await self._plane.survey(IMAGES.all) if image.whole]


def _read(number: int, source: Path) -> Image:
    state = source.stat()
    with source.open("rb") as file:
        content = file.read(_MARK).strip(b"\0").decode(errors="replace")
    used = -(-state.st_blocks * 512 // _MB)
    return Image(number, -(-state.st_size // _MB), content, used)
