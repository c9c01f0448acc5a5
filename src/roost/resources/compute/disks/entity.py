"""How events name disks."""

from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity


def disk_entity(compute_id: int, disk_id: int, label: str) -> Entity:
    path = f"/compute/instances/{compute_id}/disks/{{id}}"
    return EntityKind(name="disk", path=path).entity(disk_id, label)
