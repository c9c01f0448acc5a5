"""Request bodies of beta programs (reference: Betas)."""

from typing import Annotated

from pydantic import ConfigDict

from roost.web.bodies import Body
from roost.web.fields import Length


class EnrollInBeta(Body):
    """POST /account/betas."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "new-thing"}]})

    id: Annotated[str, Length(1, 64)]
    """The program, as `GET /betas` shows it."""
