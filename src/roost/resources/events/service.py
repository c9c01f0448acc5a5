"""Which events somebody sees."""

from roost.clock import Clock
from roost.core.entities.registry import Entities
from roost.core.identity import Identity
from roost.resources.events import queries
from roost.resources.events.queries import EVENTS, SEEN_BY_RESTRICTED, Visible


def visible_to(identity: Identity, entities: Entities, clock: Clock) -> Visible:
    """All of the account, for restricted users by their grants (spec B account events grants)."""
    scope = identity.account_id, clock.now() - queries.KEPT
    if not identity.restricted:
        return Visible(EVENTS, scope)
    kinds = [kind.name for kind in entities.resources() if kind.grantable]
    looks = identity.account_access is not None
    return Visible(SEEN_BY_RESTRICTED, (*scope, identity.user_id, kinds, looks))
