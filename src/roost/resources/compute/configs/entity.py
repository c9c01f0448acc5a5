"""How events name configs."""

from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity
from roost.resources.compute.configs.queries import ConfigName


def config_entity(compute_id: int, config: ConfigName) -> Entity:
    path = f"/compute/instances/{compute_id}/configs/{{id}}"
    return EntityKind(name="compute_config", path=path).entity(config.id, config.label)
