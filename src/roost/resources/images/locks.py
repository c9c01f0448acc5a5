"""Which private image a request or a job works on, and whether it may."""

from roost.core.context import Context
from roost.core.entities.records import Entity
from roost.errors import forbidden, invalid, not_found
from roost.resources.compute.references import image_entity
from roost.resources.images import queries
from roost.resources.images.queries import ImageFacts
from roost.resources.images.rules import number_of


def resource_of(number: int) -> str:
    """The name under which jobs of an image run one at a time."""
    return f"image:{number}"


BUSY = "Image busy."


def entity_of(image: ImageFacts) -> Entity:
    return image_entity(image.id, image.label)


async def lock(context: Context, image_id: str) -> ImageFacts:
    """A private image of the account, until the end of the transaction (spec A images 8).

    404 for what is not there, 403 for a public one.
    """
    number = number_of(image_id)
    if number is None:
        raise forbidden() if await queries.is_public(context.db, image_id) else not_found()
    image = await queries.lock(context.db, number)
    if image is None or image.account_id != context.account_id or image.deleting:
        raise not_found()
    return image


def check_idle(image: ImageFacts) -> None:
    """400 while it is being made."""
    if image.status == "creating":
        raise invalid(BUSY)
