"""What users should know of where their instances are."""

from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.resources.compute import totals_queries
from roost.resources.regions.queries import in_outage


async def outages(context: Context) -> list[NotificationRow]:
    """A region in which the account has instances is in outage."""
    regions = await totals_queries.regions_of(context.db, context.account_id, context.grantee)
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
        for region in await in_outage(context.db, regions)
    ]
