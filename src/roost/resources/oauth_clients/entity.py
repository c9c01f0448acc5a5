"""How events name OAuth clients."""

from roost.core.entities.kind import EntityKind

OAUTH_CLIENT = EntityKind(name="oauth_client", path="/account/oauth-clients/{id}")
