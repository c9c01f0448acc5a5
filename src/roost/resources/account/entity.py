"""What events of accounts are about."""

from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity

ACCOUNT_KIND = EntityKind(name="account", path="/account")


SETTINGS_ENTITY: Entity = {**ACCOUNT_KIND.entity(), "url": f"{ACCOUNT_KIND.url()}/settings"}
"""The part of the account that changes of its settings are about."""
