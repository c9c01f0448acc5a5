"""How events name configs."""

from roost.resources.compute.configs.queries import ConfigName
from roost.resources.entities.kind import EntityKind
from roost.resources.entities.records import Entity


def config_entity(compute_id: int, config: ConfigName) -> Entity:
    path = f"/compute/instances/{compute_id}/configs/{{id}}"
    return EntityKind(name="compute_config", path=path).entity(config.id, config.label)
