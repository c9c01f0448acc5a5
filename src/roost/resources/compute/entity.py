"""What events, grants, tags and tickets know of instances."""

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
