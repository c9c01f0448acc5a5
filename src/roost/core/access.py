"""What a restricted user may do with an entity (spec A auth 4)."""

from collections.abc import Collection

from roost.core import grant_queries
from roost.core.context import Context
from roost.core.grant_queries import Permission
from roost.core.identity import Identity
from roost.errors import forbidden
from roost.store import Queries


async def require(context: Context, kind: str, entity_id: int, level: Permission) -> None:
    """Raises 403 unless the user may do so much with the entity."""
    if not await may(context.db, context.identity, kind, entity_id, level):
        raise forbidden()


async def require_all(context: Context, kind: str, ids: Collection[int], level: Permission) -> None:
    """Raises 403 unless the user may do so much with each of the entities."""
    if not context.identity.restricted:
        return
    held = await grant_queries.permissions(context.db, context.identity.user_id, kind, ids)
    if not all(covers(held.get(each), level) for each in ids):
        raise forbidden()


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
