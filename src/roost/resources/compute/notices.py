"""What users should know of where their instances are."""

from roost.core.notices import NotificationRow
from roost.resources.compute import engine_queries
from roost.resources.regions.queries import in_outage
from roost.web.call import Call


async def outages(call: Call) -> list[NotificationRow]:
    """A region in which the account has instances is in outage."""
    regions = await engine_queries.regions_of(call.db, call.account_id, call.grantee)
    return [
        {
            "entity": {
                "id": None,
                "label": None,
                "type": "region",
                "url": f"/v4/regions/{region.id}",
            },
            "label": f"Outage in {region.label}",
            "message": f"The region {region.id} is in outage. Instances there may be affected.",
            "body": None,
            "type": "outage",
            "severity": "critical",
            "when": None,
            "until": None,
        }
        for region in await in_outage(call.db, regions)
    ]
