"""Tags on entities: with other records, where groups call this, and by themselves."""

from collections.abc import Collection, Iterator

from roost.core.context import Context
from roost.core.entities.kind import ResourceKind
from roost.core.entities.registry import Entities
from roost.core.limits.check import check_limits
from roost.errors import Problem, forbidden, invalid_fields
from roost.resources.tags import queries
from roost.resources.tags.bodies import MAX_TAGS, CreateTag, Tags


async def use_tags(context: Context, tags: Tags | None) -> None:
    """Make the tags of something new exist; before the row that is to have them is locked.

    Raises 403: tags need an unrestricted user (spec B, Tags; Compute instances rule 1).
    """
    if not tags:
        return
    if context.identity.restricted:
        raise forbidden()
    if await queries.claim(context.db, context.account_id, tags):
        await check_limits(context, queries.LIMIT)


async def change_tags(
    context: Context, kind: ResourceKind, entity_id: int, tags: Tags | None
) -> Tags | None:
    """The same for something that may have tags already: what to write, None to keep those.

    Restricted users can neither set nor clear tags, but send whole records back: tags as they are
    mean none.
    """
    if tags is None or not context.identity.restricted:
        await use_tags(context, tags)
        return tags
    held = await queries.find_held(context.db, kind, context.account_id, entity_id)
    if held is None or set(held) == set(tags):
        return None
    raise forbidden()


async def hold_tags(context: Context, tags: Collection[str]) -> None:
    """Let nobody delete tags that a copy is to have; before what is copied is locked."""
    if tags:
        await queries.claim(context.db, context.account_id, tags)


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
