"""What a new ticket is about (spec A support)."""

from roost.core.access import require
from roost.core.context import Context
from roost.core.entities.queries import labels
from roost.core.entities.records import Entity
from roost.core.entities.registry import Entities
from roost.errors import invalid
from roost.ids import MAX_ID
from roost.resources.compute.vlan_queries import has_vlan
from roost.resources.support.bodies import OpenTicket


async def find_entity(context: Context, body: OpenTicket) -> Entity | None:
    """The entity as it is called now. ApiError 400 when the account has none such.

    403 for a restricted user who may not see it, whether it exists or not.
    """
    about = body.about()
    if about is not None:
        return await _named(context, *about)
    if body.vlan is not None and body.region is not None:
        return await _vlan(context, body.vlan, body.region)
    return None


async def _named(context: Context, field: str, entity_id: int) -> Entity:
    kind = context.get(Entities).ticketed(field)
    if kind is None or not 0 < entity_id <= MAX_ID:
        raise invalid(f"{field} is not valid", field)
    if kind.grantable:
        await require(context, kind.name, entity_id, "read_only")
    found = await labels(context.db, kind, context.account_id, [entity_id])
    if entity_id not in found:
        raise invalid(f"{field} is not valid", field)
    return kind.entity(entity_id, found[entity_id])


async def _vlan(context: Context, label: str, region: str) -> Entity:
    """VLANs have no ids; one exists as long as an instance is attached to it."""
    if not await has_vlan(context.db, context.account_id, region, label):
        raise invalid("vlan is not valid", "vlan")
    return {"id": None, "label": label, "type": "vlan", "url": "/v4/networking/vlans"}
