"""How events name tokens."""

from roost.resources.entities.kind import EntityKind

TOKEN = EntityKind(name="token", path="/profile/tokens/{id}")
