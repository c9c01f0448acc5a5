"""What a restricted user may do with an entity (spec A auth 4)."""

from collections.abc import Collection

from roost.core import grant_queries
from roost.core.context import Context
from roost.core.coverage_queries import covered
from roost.core.entities.registry import Entities
from roost.core.grant_queries import Permission
from roost.core.identity import Identity
from roost.errors import forbidden, restricted
from roost.store import Queries


async def require(context: Context, kind: str, entity_id: int, level: Permission) -> None:
    """Raises 403 unless the user may do so much with the entity, and the token name it."""
    await require_named(context, kind, (entity_id,))
    if not await may(context.db, context.identity, kind, entity_id, level):
        raise forbidden()


async def require_all(context: Context, kind: str, ids: Collection[int], level: Permission) -> None:
    """Raises 403 unless the user may do so much with each of the entities, and the token name
    them."""
    await require_named(context, kind, ids)
    if not context.identity.restricted:
        return
    held = await grant_queries.permissions(context.db, context.identity.user_id, kind, ids)
    if not all(covers(held.get(each), level) for each in ids):
        raise forbidden()


async def require_named(context: Context, kind: str, ids: Collection[int]) -> None:
    """Raises 403 unless the token may name each of the entities, which grants do not say."""
    if context.names_only is None:
        return
    left = await left_of(context, kind, ids)
    if not left.issuperset(ids):
        raise restricted(context.names_only)


def refuse_nameless(context: Context) -> None:
    """Raises 403 for a token that may name certain entities alone: for what is none of them."""
    if context.names_only is not None:
        raise restricted(context.names_only)


async def left_of(
    context: Context, kind: str, ids: Collection[int] | None = None
) -> frozenset[int]:
    """The entities of a kind, or those of `ids`, that a narrowed token may name."""
    narrowing = context.identity.narrowing
    found = context.get(Entities).grantable(kind)
    if narrowing is None or found is None:
        return frozenset()
    restrictions = narrowing.restrictions
    return await covered(context.db, found, context.account_id, restrictions, ids)


async def may(
    db: Queries, identity: Identity, kind: str, entity_id: int, level: Permission
) -> bool:
    if not identity.restricted:
        return True
    return covers(await grant_queries.permission(db, identity.user_id, kind, entity_id), level)


def covers(held: Permission | None, wanted: Permission) -> bool:
    return held == "read_write" or held == wanted


async def give_to_creator(context: Context, kind: str, entity_id: int) -> None:
    """A restricted user may do everything with what they create."""
    if context.identity.restricted:
        user_id = context.identity.user_id
        await grant_queries.give(context.db, user_id, kind, entity_id, "read_write")
