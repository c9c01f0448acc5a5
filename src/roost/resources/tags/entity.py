"""How events name tags."""

from roost.resources.entities.kind import EntityKind

TAG = EntityKind(name="tag", path="/tags/{label}")
