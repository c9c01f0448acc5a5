"""What a new ticket is about (spec A, Support)."""

from roost.core.entities.queries import labels
from roost.core.entities.records import Entity
from roost.core.entities.registry import Entities
from roost.errors import invalid
from roost.ids import MAX_ID
from roost.resources.compute.vlan_queries import has_vlan
from roost.resources.support.bodies import OpenTicket
from roost.web.call import Call
from roost.web.grants import Read, require


async def find_entity(call: Call, body: OpenTicket) -> Entity | None:
    """The entity as it is called now. ApiError 400 when the account has none such.

    403 for a restricted user who may not see it, whether it exists or not.
    """
    about = body.about()
    if about is not None:
        return await _named(call, *about)
    if body.vlan is not None and body.region is not None:
        return await _vlan(call, body.vlan, body.region)
    return None


async def _named(call: Call, field: str, entity_id: int) -> Entity:
    kind = call.get(Entities).ticketed(field)
    if kind is None or not 0 < entity_id <= MAX_ID:
        raise invalid(f"{field} is not valid", field)
    if kind.grantable:
        await require(Read(kind.name), call.identity, {f"{kind.name}Id": entity_id}, call.db)
    found = await labels(call.db, kind, call.account_id, [entity_id])
    if entity_id not in found:
        raise invalid(f"{field} is not valid", field)
    return kind.entity(entity_id, found[entity_id])


async def _vlan(call: Call, label: str, region: str) -> Entity:
    """VLANs have no ids; one exists as long as an instance is attached to it."""
    if not await has_vlan(call.db, call.account_id, region, label):
        raise invalid("vlan is not valid", "vlan")
    return {"id": None, "label": label, "type": "vlan", "url": "/v4/networking/vlans"}
