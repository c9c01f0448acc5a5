"""Putting a tag on entities, and taking it off all of them."""

from collections.abc import Collection, Iterator, Mapping

from roost.core.context import Context
from roost.core.entities.queries import labels
from roost.core.entities.registry import Entities
from roost.errors import Problem, invalid_fields
from roost.resources.tags import queries
from roost.resources.tags.labels import MAX_TAGS

NOT_FOUND = "Not found"


class Taggable:
    """How a body names entities to be tagged: of the kind whose plural is the field's name."""

    def __init__(self, field: str) -> None:
        self._field = field

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        """A kind that no group has declared has no entities."""
        for kind in context.get(Entities).taggable():
            if self._field == f"{kind.name}s":
                return await labels(context.db, kind, context.account_id, ids)
        return {}


async def put_on(context: Context, label: str, wanted: Mapping[str, list[int]]) -> None:
    """Entities by the fields that name them. Raises 400 with all that has too many tags.

    The tag is claimed before.
    """
    problems = list[Problem]()
    for kind in context.get(Entities).taggable():
        field = f"{kind.name}s"
        if ids := wanted.get(field):
            held = await queries.lock(context.db, kind, context.account_id, ids)
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
    """The tag itself is gone or locked before, so that nothing new gets it meanwhile."""
    for kind in context.get(Entities).taggable():
        await queries.remove(context.db, kind, context.account_id, label)
