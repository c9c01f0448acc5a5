"""Request bodies of transfers (spec B entity-transfers create)."""

from typing import Annotated

from pydantic import ConfigDict

from roost.resources.compute.references import ComputeId
from roost.web.bodies import Body
from roost.web.fields import Length

MAX_COMPUTES = 100


class Entities(Body):
    """What is to be transferred."""

    computes: Annotated[list[ComputeId], Length(1, MAX_COMPUTES)]
    """Ids of compute instances of the account."""


class CreateTransfer(Body):
    """POST /account/entity-transfers and /account/service-transfers."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"entities": {"computes": [100001]}}]}
    )

    entities: Entities
    """What is to be transferred."""
