"""How tickets name what they are about (spec A support)."""

from collections.abc import Collection, Mapping

from roost.core.access import require_all
from roost.core.context import Context
from roost.core.entities.queries import labels
from roost.core.entities.records import Entity
from roost.core.entities.registry import Entities
from roost.ids import MAX_ID


class About:
    """An entity that a field of a ticket names; none of a kind that no group has declared."""

    def __init__(self, field: str) -> None:
        self._field = field

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, Entity]:
        """403 for a restricted user who may not see one, whether it exists or not."""
        kind = context.get(Entities).ticketed(self._field)
        ids = [each for each in ids if 0 < each <= MAX_ID]
        if kind is None or not ids:
            return {}
        if kind.grantable:
            await require_all(context, kind.name, ids, "read_only")
        found = await labels(context.db, kind, context.account_id, ids)
        return {each: kind.entity(each, label) for each, label in found.items()}
