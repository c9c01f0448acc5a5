"""Request bodies of backups (reference: operations, Compute instances)."""

from typing import Annotated

from pydantic import ConfigDict

from roost.resources.compute.records import Day, Window
from roost.resources.compute.references import ComputeId
from roost.web.bodies import Body
from roost.web.fields import Length


class UpdateSchedule(Body):
    """When backups are made, once they are enabled."""

    day: Day | None = None
    """The day of the weekly backup."""
    window: Window | None = None
    """The two hours in which backups are made, by their first hour (UTC)."""


class UpdateBackups(Body):
    """The backups of an instance."""

    schedule: UpdateSchedule | None = None
    """When backups are made."""


class TakeSnapshot(Body):
    """POST …/backups."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "before-the-upgrade"}]})

    label: Annotated[str, Length(1, 255)]
    """The name of the snapshot."""


class RestoreBackup(Body):
    """POST …/backups/{backupId}/restore."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"compute_id": 100001, "overwrite": True}]}
    )

    compute_id: ComputeId
    """The instance to restore to, in the backup's region; it may be another than the backup's."""
    overwrite: bool = False
    """Whether all disks and configs that the instance has are deleted first; else those of the
    backup are added, as far as there is room."""
