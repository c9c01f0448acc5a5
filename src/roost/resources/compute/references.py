"""How bodies name compute instances, what stands before one, and what its disks start as."""

from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import ValidationInfo

from roost.core.catalog import Catalog
from roost.core.catalog.entries import ImageEntry
from roost.core.context import Context
from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity
from roost.core.references import OfKind
from roost.ids import MAX_ID
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.neighbours import InstanceFirewalls, InstanceImages, InstanceVpcs
from roost.web.checks import Refers, catalog_of, referred
from roost.web.fields import Between, ShortText

Id = Annotated[int, Between(1, MAX_ID)]

ComputeId = Annotated[Id, Refers(OfKind(COMPUTE, "read_write"))]
"""An instance of the account that the caller may change."""


class _Subnet:
    """A subnet that an interface is to be in."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        return await context.get(InstanceVpcs).find(context, ids)


SUBNET = _Subnet()


class _Firewall:
    """A firewall that a new instance is to be behind."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        return await context.get(InstanceFirewalls).find(context, ids)


FirewallId = Annotated[Id, Refers(_Firewall())]


class _Image:
    """A public image of the catalogue, or a private one of the account."""

    async def find(self, context: Context, ids: Collection[str]) -> Mapping[str, ImageEntry]:
        catalog, found, others = context.get(Catalog), dict[str, ImageEntry](), list[str]()
        for image_id in ids:
            image = catalog.find_image(image_id)
            if image is None:
                others.append(image_id)
            else:
                found[image_id] = image
        if others:
            found.update(await context.get(InstanceImages).find(context, others))
        return found


_IMAGE = _Image()

ImageId = Annotated[ShortText, Refers(_IMAGE)]
"""What a disk starts as."""


def image_named(info: ValidationInfo, image_id: str | None) -> ImageEntry | None:
    """What is known of it; of a private one nothing while bodies are only being read."""
    if image_id is None:
        return None
    return catalog_of(info).find_image(image_id) or referred(info, _IMAGE, image_id)


async def find_image(context: Context, image_id: str | None) -> ImageEntry | None:
    """Find an image within a transaction; None also when it is gone."""
    return None if image_id is None else (await _IMAGE.find(context, (image_id,))).get(image_id)


NOT_SET_UP = (
    "The root password and keys are set only if what is on the image asks for them,"
    " as cloud-init does."
)


async def set_up_note(context: Context, image_id: str | None) -> str:
    """What the event says of a disk that begins as a private image without cloud-init."""
    image = await find_image(context, image_id)
    if image is None or "cloud-init" in image.capabilities:
        return ""
    return "" if context.get(Catalog).find_image(image.id) else NOT_SET_UP


def image_entity(image_id: str, label: str) -> Entity:
    """As events name it."""
    return EntityKind(name="image", path="/images/{id}").entity(image_id, label)
