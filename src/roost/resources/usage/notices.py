"""What users are told of instances that use more than they are meant to."""

from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.resources.compute.entity import COMPUTE
from roost.resources.usage.alert_service import Found, find_alerts


async def alerts(context: Context) -> list[NotificationRow]:
    """An instance exceeds an alert of its own."""
    now = context.clock.now()
    found = await find_alerts(context.db, context.account_id, context.grantee, now)
    return [_row(each) for each in found]


def _row(found: Found) -> NotificationRow:
    instance = found.instance
    return {
        "entity": {
            "id": instance.id,
            "label": instance.label,
            "type": "compute",
            "url": COMPUTE.url(instance.id),
        },
        "label": f"Alert: {found.alert.title}",
        "message": found.text,
        "body": None,
        "type": "notice",
        "severity": "minor",
        "when": None,
        "until": None,
    }
