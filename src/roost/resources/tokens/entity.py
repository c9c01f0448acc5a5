"""What events of tokens are about."""

from roost.core.entities.kind import EntityKind

TOKEN = EntityKind(name="token", path="/profile/tokens/{id}")
