"""How bodies name entities that are to be tagged."""

from collections.abc import Collection, Mapping

from roost.core.context import Context
from roost.core.entities.queries import labels
from roost.core.entities.registry import Entities

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
