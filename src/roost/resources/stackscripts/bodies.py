"""Request bodies of StackScripts (reference: operations)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, JsonValue, ValidationInfo

from roost.resources.stackscripts import rules
from roost.web.bodies import Body
from roost.web.checks import check_image
from roost.web.fields import Length, ShortText


def _check_image(image: str, info: ValidationInfo) -> str:
    return image if image == rules.ANY_IMAGE else check_image(image, info)


Label = Annotated[str, Length(3, 128)]
Images = Annotated[list[Annotated[ShortText, AfterValidator(_check_image)]], Length(1, 100)]
Script = Annotated[str, Length(1, rules.MAX_SCRIPT), AfterValidator(rules.check_script)]
Description = Annotated[str, Length(0, 4096)]
Note = Annotated[str, Length(0, 512)]

_EXAMPLE: dict[str, JsonValue] = {
    "label": "a-web-server",
    "images": ["roost/debian12"],
    "script": '#!/bin/sh\n# <UDF name="site" label="Name of the site"/>\napt-get install nginx\n',
    "description": "nginx with one site",
}


class CreateStackScript(Body):
    """POST /compute/stackscripts. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    label: Label
    """The name of the script."""
    images: Images
    """The images that it runs on: their ids, or `any/all`."""
    script: Script
    """The script, with the interpreter in its first line. Tags such as
    `<UDF name="site" label="Name of the site" oneof="a,b" default="a"/>` in its comments are
    questions; the answers are environment variables."""
    description: Description = ""
    """What it is for."""
    is_public: bool = False
    """Whether every account can use it, from now on and for good."""
    rev_note: Note = ""
    """What is new."""


class UpdateStackScript(Body):
    """PUT /compute/stackscripts/{stackscriptId}; what is omitted stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "a-web-server", "rev_note": "renamed"}]}
    )

    label: Label | None = None
    """The new name."""
    images: Images | None = None
    """The images that it runs on, in place of all that it names."""
    script: Script | None = None
    """The script anew."""
    description: Description | None = None
    """What it is for."""
    is_public: bool | None = None
    """True makes it public, for good."""
    rev_note: Note | None = None
    """What is new."""
