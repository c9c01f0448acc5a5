"""What private images are to instances: their disks start as such."""

from collections.abc import Collection, Mapping

from roost.core.access import require_all
from roost.core.catalog.entries import ImageEntry
from roost.core.context import Context
from roost.core.instance_queries import InstanceFacts
from roost.core.neighbours import Neighbour
from roost.errors import invalid
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.neighbours import InstanceImages
from roost.resources.images import kept_service, queries, service
from roost.resources.images.queries import IMAGE, ImageFacts
from roost.resources.images.rules import number_of
from roost.services import Services
from roost.store import Queries


class PrivateImages(InstanceImages, Neighbour):
    """Those of the account. Restricted users need to see the ones that they use."""

    async def find(self, context: Context, ids: Collection[str]) -> Mapping[str, ImageEntry]:
        numbers = [number for each in ids if (number := number_of(each)) is not None]
        if not numbers:
            return {}
        await require_all(context, IMAGE.name, numbers, "read_only")
        found = await queries.of_account(context.db, context.account_id, numbers)
        return {image.id: _entry(image) for image in found}

    async def keep(
        self, context: Context, instance: InstanceFacts, disk: DiskSpec, label: str
    ) -> int | None:
        return await kept_service.begin(context, instance, disk, label)

    async def call_off(self, context: Context, compute_id: int) -> None:
        await service.call_off(context, compute_id)

    async def set_aside(
        self, services: Services, instance: InstanceFacts, disk: DiskSpec, number: int
    ) -> None:
        await kept_service.set_aside(services, instance, disk, number)

    async def discard(self, services: Services, instance: InstanceFacts, number: int) -> None:
        await kept_service.discard(services, instance, number)

    async def forget(self, db: Queries, number: int) -> None:
        await queries.delete(db, number)

    async def finish(
        self, db: Queries, services: Services, instance: InstanceFacts, number: int
    ) -> None:
        await kept_service.start(db, services, instance, number)


def _entry(image: ImageFacts) -> ImageEntry:
    """Raises 400 for one that is not whole yet."""
    if image.status != "available":
        raise invalid("The image is not available yet", "image")
    return ImageEntry.model_validate(
        {
            "id": image.id,
            "label": image.label,
            "vendor": image.label,
            "size": image.size,
            "created": image.created,
            "capabilities": image.capabilities,
        }
    )
