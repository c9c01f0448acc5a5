"""How events name images."""

from roost.core.entities.kind import EntityKind

IMAGE = EntityKind(name="image", path="/images/{id}")
