"""How events name users."""

from roost.resources.entities.kind import EntityKind

USER = EntityKind(name="user", path="/account/users/{label}")
