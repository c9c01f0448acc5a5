"""How events name images."""

from roost.resources.entities.kind import EntityKind

IMAGE = EntityKind(name="image", path="/images/{id}")
