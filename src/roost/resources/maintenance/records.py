"""The maintenance record (reference: Maintenance)."""

from typing import Literal

from typing_extensions import TypedDict

MaintenanceType = Literal["reboot", "cold_migration", "live_migration"]
MaintenanceStatus = Literal["pending", "started", "completed", "canceled"]


class MaintainedEntity(TypedDict):
    """The instance."""

    label: str
    id: int
    type: Literal["compute"]
    url: str


class MaintenanceRow(TypedDict):
    """What is done to an instance, and when (UTC)."""

    type: MaintenanceType
    status: Literal["pending", "started", "completed"]
    reason: str
    when: str
    entity: MaintainedEntity
