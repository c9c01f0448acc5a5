"""Tags on entities: with other records, where groups call this, and by themselves."""

from collections.abc import Collection, Iterator, Mapping

from roost.core.context import Context
from roost.core.entities.kind import ResourceKind
from roost.core.entities.locks import lock_all
from roost.core.entities.registry import Entities
from roost.core.limits.check import check_limits
from roost.errors import Problem, forbidden, invalid_fields
from roost.resources.tags import queries
from roost.resources.tags.bodies import MAX_TAGS, NOT_FOUND, Tags


async def use_tags(context: Context, tags: Tags | None) -> None:
    """Make the tags of something new exist; before the row that is to have them is locked.

    Raises 403: tags need an unrestricted user (spec B tags unrestricted, B compute 1 tags).
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
    """The tags of something that may have some already: what to write, None to keep those.

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


async def put_on(context: Context, label: str, wanted: Mapping[str, list[int]]) -> None:
    """Entities by the fields that name them. Raises 400 with all that has too many tags.

    The tag is claimed before.
    """
    problems = list[Problem]()
    for kind in context.get(Entities).taggable():
        field = f"{kind.name}s"
        if ids := wanted.get(field):
            held = await lock_all(context.db, kind, context.account_id, ids)
            full = await queries.find_full(context.db, kind, held, label, MAX_TAGS)
            await queries.add(context.db, kind, held, label)
            problems += _refusals(field, ids, held, full)
    if problems:
        raise invalid_fields(problems)


def _refusals(field: str, ids: list[int], held: set[int], full: set[int]) -> Iterator[Problem]:
    for index, entity_id in enumerate(ids):
        if entity_id not in held:
            yield Problem(NOT_FOUND, f"{field}[{index}]")
        elif entity_id in full:
            yield Problem(f"Can have at most {MAX_TAGS} tags", f"{field}[{index}]")


async def take_off(context: Context, label: str) -> None:
    """Take a tag off all that has it.

    The tag itself is gone or locked before, so that nothing new gets it meanwhile.
    """
    for kind in context.get(Entities).taggable():
        await queries.remove(context.db, kind, context.account_id, label)
