"""How the rest of the cloud knows firewalls."""

from roost.core.entities.kind import ResourceKind
from roost.resources.firewalls.queries import FIREWALLS

FIREWALL = ResourceKind(
    name="firewall",
    path="/networking/firewalls/{id}",
    listing=FIREWALLS,
    label="f.label",
    tags_table="firewall",
    ticket_field="firewall_id",
)


def resource_of(firewall_id: int) -> str:
    """The name under which jobs of a firewall run one at a time."""
    return f"firewall:{firewall_id}"
