"""How events name tags."""

from roost.core.entities.kind import EntityKind

TAG = EntityKind(name="tag", path="/tags/{label}")
