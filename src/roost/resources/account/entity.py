"""How events name an account."""

from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity

ACCOUNT = EntityKind(name="account", path="/account")

SETTINGS: Entity = {**ACCOUNT.entity(), "url": f"{ACCOUNT.url()}/settings"}
"""The part of the account that changes of its settings are about."""
