"""How the rest of the cloud knows instances."""

from typing import Annotated

from roost.core.entities.kind import ResourceKind
from roost.core.references import OfKind
from roost.ids import MAX_ID
from roost.resources.compute.queries import INSTANCES
from roost.web.checks import Refers
from roost.web.fields import Between

COMPUTE = ResourceKind(
    name="compute",
    path="/compute/instances/{id}",
    listing=INSTANCES,
    label="i.label",
    tags_table="compute_instance",
    ticket_field="compute_id",
)

Id = Annotated[int, Between(1, MAX_ID)]
ComputeId = Annotated[Id, Refers(OfKind(COMPUTE, "read_write"))]
"""An instance of the account that the caller may change."""


def resource_of(compute_id: int) -> str:
    """The name under which jobs of an instance run one at a time."""
    return f"compute:{compute_id}"
