"""How the rest of the cloud knows instances."""

from roost.core.entities.kind import ResourceKind
from roost.resources.compute.queries import INSTANCES

COMPUTE = ResourceKind(
    name="compute",
    path="/compute/instances/{id}",
    listing=INSTANCES,
    label="i.label",
    tags_table="compute_instance",
    ticket_field="compute_id",
)


def resource_of(compute_id: int) -> str:
    """The name under which jobs of an instance run one at a time."""
    return f"compute:{compute_id}"
