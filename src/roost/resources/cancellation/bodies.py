"""Request bodies of the cancellation."""

from typing import Annotated

from pydantic import ConfigDict

from roost.web.bodies import Body
from roost.web.fields import Length


class CancelAccount(Body):
    """POST /account/cancel."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"comments": "The project is over."}]}
    )

    comments: Annotated[str, Length(0, 10000)] | None = None
    """Why, for the operator."""
