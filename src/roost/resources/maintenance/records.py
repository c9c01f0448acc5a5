"""The maintenance record (reference: Maintenance)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Filtered, Timestamp, UriReference, example

MaintenanceType = Literal["reboot", "cold_migration", "live_migration"]
MaintenanceStatus = Literal["pending", "started", "completed", "canceled"]


class MaintainedEntity(TypedDict):
    """The instance."""

    label: str
    """Its label."""
    id: int
    """Its id."""
    type: Literal["compute"]
    """Always `compute`."""
    url: UriReference
    """The path that shows it."""


@example(
    {
        "type": "reboot",
        "status": "pending",
        "reason": "The host gets a new kernel.",
        "when": "2030-02-02T02:00:00",
        "entity": {
            "label": "web-1",
            "id": 100001,
            "type": "compute",
            "url": "/v4/compute/instances/100001",
        },
    },
)
class MaintenanceRow(TypedDict):
    """What is done to an instance, and when (UTC)."""

    type: Filtered[MaintenanceType]
    """What is done: a reboot, or a move to another host, powered off or running."""
    status: Filtered[Literal["pending", "started", "completed"]]
    """How far it is."""
    reason: str
    """Why it is done."""
    when: Filtered[Timestamp]
    """When it begins (UTC)."""
    entity: MaintainedEntity
    """The instance."""
