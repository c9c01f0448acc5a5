"""The maintenance record (reference: Maintenance)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Filtered, Timestamp, UriReference

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
