"""Where user data can be given (spec B, Compute rule 3)."""

from roost.errors import invalid
from roost.resources.catalog import Catalog
from roost.web.call import Call

_FIELD = "metadata.user_data"


def check_user_data(call: Call, region_id: str, image_id: str | None) -> None:
    """400 for an image that does nothing with them, and a region that passes none on."""
    catalog = call.get(Catalog)
    image, region = catalog.find_image(image_id or ""), catalog.find_region(region_id)
    if image is None or not image.takes_user_data:
        raise invalid("user_data needs an image with the cloud-init capability", _FIELD)
    if region is not None and "Metadata" not in region.capabilities:
        raise invalid("user_data needs a region with the Metadata capability", _FIELD)
