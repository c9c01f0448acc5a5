"""Where user data can be given (spec B compute 3 image, B compute 3 region)."""

from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.errors import invalid
from roost.resources.compute.rules import user_data_reason

_FIELD = "metadata.user_data"


def check_user_data(context: Context, region_id: str, image_id: str | None, text: str) -> None:
    """400 for an image that does nothing with them, and a region that passes none on."""
    catalog = context.get(Catalog)
    image, region = catalog.find_image(image_id or ""), catalog.find_region(region_id)
    reason = user_data_reason(text, image, region)
    if reason is not None:
        raise invalid(reason, _FIELD)
