"""What events of users are about."""

from roost.core.entities.kind import EntityKind

USER = EntityKind(name="user", path="/account/users/{label}")


PROFILE = EntityKind(name="profile", path="/profile")
