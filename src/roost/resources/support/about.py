"""What a ticket is about (spec A support)."""

from collections.abc import Collection, Mapping

from roost.core.access import require_all
from roost.core.context import Context
from roost.core.entities.queries import labels
from roost.core.entities.records import Entity
from roost.core.entities.registry import Entities
from roost.errors import invalid
from roost.ids import MAX_ID
from roost.resources.compute.vlan_queries import has_vlan


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


async def find_entity(
    context: Context, named: tuple[str, int] | None, vlan: tuple[str, str] | None
) -> Entity | None:
    """What a field names, or a VLAN by label and region, as it is called now.

    ApiError 400 when it is gone. VLANs have no ids; one exists as long as an instance is attached
    to it.
    """
    if named is not None:
        field, entity_id = named
        found = await About(field).find(context, [entity_id])
        if entity_id not in found:
            raise invalid(f"{field} is not valid", field)
        return found[entity_id]
    if vlan is None:
        return None
    label, region = vlan
    if not await has_vlan(context.db, context.account_id, region, label):
        raise invalid("vlan is not valid", "vlan")
    return {"id": None, "label": label, "type": "vlan", "url": "/v4/networking/vlans"}
