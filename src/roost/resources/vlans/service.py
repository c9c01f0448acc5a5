"""VLANs as tickets are about them."""

from roost.core.context import Context
from roost.core.entities.records import Entity
from roost.errors import invalid
from roost.resources.vlans import queries


async def find(context: Context, region: str, label: str) -> Entity:
    """It has no id, and exists as long as an instance is attached to it; 400 when there is none."""
    if not await queries.is_attached(context.db, context.account_id, region, label):
        raise invalid("vlan is not valid", "vlan")
    return {"id": None, "label": label, "type": "vlan", "url": "/v4/networking/vlans"}
