"""How the rest of the cloud knows volumes."""

from roost.core.entities.kind import ResourceKind
from roost.resources.volumes.queries import VOLUMES

VOLUME = ResourceKind(
    name="volume",
    path="/volumes/{id}",
    listing=VOLUMES,
    label="v.label",
    tags_table="volume",
    ticket_field="volume_id",
)


def resource_of(volume_id: int) -> str:
    """The name under which jobs of a volume run one at a time."""
    return f"volume:{volume_id}"
