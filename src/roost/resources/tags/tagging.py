"""Putting a tag on entities, and taking it off all of them."""

from collections.abc import Iterator

from roost.core.context import Context
from roost.core.entities.registry import Entities
from roost.errors import Problem, invalid_fields
from roost.resources.tags import queries
from roost.resources.tags.bodies import CreateTag
from roost.resources.tags.labels import MAX_TAGS


async def put_on(context: Context, body: CreateTag) -> None:
    """Raises 400 with everything that is not the account's, or has too many tags.

    The tag is claimed before. A kind that no group has declared has no entities.
    """
    wanted = body.wanted()
    held: dict[str, set[int]] = {}
    full: dict[str, set[int]] = {}
    for kind in context.get(Entities).taggable():
        field = f"{kind.name}s"
        if wanted.get(field):
            held[field] = await queries.lock(context.db, kind, context.account_id, wanted[field])
            full[field] = await queries.find_full(
                context.db, kind, held[field], body.label, MAX_TAGS
            )
            await queries.add(context.db, kind, held[field], body.label)
    problems = [
        Problem(reason, f"{field}[{index}]")
        for field, ids in wanted.items()
        for index, entity_id in enumerate(ids)
        for reason in _refusals(entity_id, held.get(field, set()), full.get(field, set()))
    ]
    if problems:
        raise invalid_fields(problems)


def _refusals(entity_id: int, held: set[int], full: set[int]) -> Iterator[str]:
    if entity_id not in held:
        yield "Not found"
    elif entity_id in full:
        yield f"Can have at most {MAX_TAGS} tags"


async def take_off(context: Context, label: str) -> None:
    """The tag itself is gone or locked before, so that nothing new gets it meanwhile."""
    for kind in context.get(Entities).taggable():
        await queries.remove(context.db, kind, context.account_id, label)
