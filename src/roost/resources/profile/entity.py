"""How events name a user's profile; its label is the user's name."""

from roost.core.entities.kind import EntityKind

PROFILE = EntityKind(name="profile", path="/profile")
