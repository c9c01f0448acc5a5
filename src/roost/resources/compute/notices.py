"""What users should know of where their instances are."""

from roost.core.catalog.queries import in_outage
from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.resources.compute import host_queries, totals_queries


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


async def stranded(context: Context) -> list[NotificationRow]:
    """An instance of the account is on a host that is not seen."""
    rows = await host_queries.stranded(context.db, context.account_id, context.grantee)
    return [
        {
            "entity": {
                "id": row.id,
                "label": row.label,
                "type": "compute",
                "url": f"/v4/compute/instances/{row.id}",
            },
            "label": "Host outage",
            "message": (
                f"The host of the instance {row.label} does not answer. The instance may be off,"
                " and what is asked for waits until the host is back."
            ),
            "body": None,
            "type": "outage",
            "severity": "critical",
            "when": row.since.isoformat(timespec="seconds"),
            "until": None,
        }
        for row in rows
    ]
