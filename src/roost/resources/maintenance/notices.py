"""What users are told of maintenance before and while it happens."""

from roost.core.context import Context
from roost.core.notices import NotificationRow, NotificationType
from roost.resources.compute.entity import COMPUTE
from roost.resources.maintenance import queries
from roost.resources.maintenance.queries import Announced
from roost.resources.maintenance.records import MaintenanceType

_TYPES: dict[MaintenanceType, NotificationType] = {
    "reboot": "reboot_scheduled",
    "cold_migration": "migration_scheduled",
    "live_migration": "migration_scheduled",
}


async def maintenance(context: Context) -> list[NotificationRow]:
    """Maintenance of an instance is scheduled, or has begun."""
    return [
        _row(one)
        for one in await queries.announced(context.db, context.account_id, context.grantee)
    ]


def _row(one: Announced) -> NotificationRow:
    what = one.type.replace("_", " ")
    when = one.when.isoformat()
    label = f"{what.capitalize()} scheduled"
    message = f"A {what} of compute {one.compute_label} is scheduled for {when} UTC."
    if one.status == "started":
        label = f"{what.capitalize()} in progress"
        message = f"The {what} of compute {one.compute_label} has begun."
    return {
        "entity": {
            "id": one.compute_id,
            "label": one.compute_label,
            "type": "compute",
            "url": COMPUTE.url(one.compute_id),
        },
        "label": label,
        "message": message,
        "body": one.reason,
        "type": "maintenance" if one.status == "started" else _TYPES[one.type],
        "severity": "major",
        "when": when,
        "until": None,
    }
