"""Which events somebody sees."""

from roost.clock import Clock
from roost.core.coverage_queries import leaving
from roost.core.entities.registry import Entities
from roost.core.identity import Identity
from roost.resources.events import queries
from roost.resources.events.queries import EVENTS, SEEN_BY_RESTRICTED, Visible


def visible_to(identity: Identity, entities: Entities, clock: Clock) -> Visible:
    """All of the account, for restricted users by their grants (spec B account events grants), and
    for a token that may name some entities alone what is about these."""
    visible = _of_user(identity, entities, clock)
    narrowing = identity.narrowing
    if narrowing is None or narrowing.of_entities() is None:
        return visible
    arguments, left = list(visible.arguments), dict[str, str]()
    for kind in entities.resources():
        ids = leaving(kind, narrowing.restrictions, arguments) if kind.grantable else None
        if ids is not None:
            left[kind.name] = ids
    return queries.among(visible, left, arguments)


def sees_all(identity: Identity) -> bool:
    """Whether no event of the account is hidden."""
    narrowing = identity.narrowing
    return not identity.restricted and (narrowing is None or narrowing.of_entities() is None)


def _of_user(identity: Identity, entities: Entities, clock: Clock) -> Visible:
    scope = identity.account_id, clock.now() - queries.KEPT
    if not identity.restricted:
        return Visible(EVENTS, scope)
    kinds = [kind.name for kind in entities.resources() if kind.grantable]
    looks = identity.account_access is not None
    return Visible(SEEN_BY_RESTRICTED, (*scope, identity.user_id, kinds, looks))
