"""How events name users."""

from roost.core.entities.kind import EntityKind

USER = EntityKind(name="user", path="/account/users/{label}")
