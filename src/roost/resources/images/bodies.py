"""Request bodies of images (spec A images create fields, A images update)."""

from typing import Annotated

from pydantic import ConfigDict

from roost.ids import MAX_ID
from roost.web.bodies import Body
from roost.web.checks import RegionId
from roost.web.fields import Between, Length

Label = Annotated[str, Length(1, 50)]
Description = Annotated[str, Length(0, 65000)]


class CreateImage(Body):
    """POST /images."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"disk_id": 100001, "label": "web, set up"}]}
    )

    disk_id: Annotated[int, Between(1, MAX_ID)]
    """The disk of an instance of yours that the image is made of."""
    label: Label | None = None
    """The name of the image; omitted, that of the disk."""
    description: Description = ""
    """What you want to say of it."""
    cloud_init: bool = False
    """Whether what is on the disk understands cloud-init, and so takes user data."""


class UploadImage(Body):
    """POST /images/upload (spec A images upload fields)."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "built here", "region": "us-lake"}]}
    )

    label: Label
    """The name of the image."""
    region: RegionId
    """The region that takes the data; every region can use the image afterwards."""
    description: Description = ""
    """What you want to say of it."""
    cloud_init: bool = False
    """Whether what is on the disk understands cloud-init, and so takes user data."""


class UpdateImage(Body):
    """PUT /images/{imageId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "web, with TLS"}]})

    label: Label | None = None
    """The new name."""
    description: Description | None = None
    """What you want to say of it from now on; null or an empty string takes it away."""
