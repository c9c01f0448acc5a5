"""What events, grants and tickets know of VPCs."""

from roost.core.entities.kind import ResourceKind
from roost.resources.vpcs.queries import VPCS

VPC = ResourceKind(
    name="vpc", path="/vpcs/{id}", listing=VPCS, label="v.label", ticket_field="vpc_id"
)
