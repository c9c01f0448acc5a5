"""What events of webhooks are about."""

from roost.core.entities.kind import EntityKind

WEBHOOK = EntityKind(name="webhook", path="/account/webhooks/{id}")
