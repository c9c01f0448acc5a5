"""What events, grants, tags and tickets know of NodeBalancers."""

from roost.core.entities.kind import ResourceKind
from roost.resources.nodebalancers.queries import NODEBALANCERS

NODEBALANCER = ResourceKind(
    name="nodebalancer",
    path="/nodebalancers/{id}",
    listing=NODEBALANCERS,
    label="b.label",
    tags_table="nodebalancer",
    ticket_field="nodebalancer_id",
)
