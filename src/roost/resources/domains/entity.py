"""How the rest of the cloud knows domains."""

from roost.core.entities.kind import ResourceKind
from roost.resources.domains.queries import DOMAINS

DOMAIN = ResourceKind(
    name="domain",
    path="/domains/{id}",
    listing=DOMAINS,
    label="d.domain",
    tags_table="domain",
    ticket_field="domain_id",
)


def resource_of(zone: str) -> str:
    """The name under which jobs of a zone run one at a time, also of two domains in turn."""
    return f"zone:{zone}"
