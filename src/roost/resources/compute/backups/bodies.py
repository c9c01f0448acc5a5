"""Request bodies of backups (reference: operations, Compute instances)."""

from typing import Annotated

from pydantic import ConfigDict

from roost.web.bodies import Body
from roost.web.fields import Between, Length


class TakeSnapshot(Body):
    """POST …/backups."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "before-the-upgrade"}]})

    label: Annotated[str, Length(1, 255)]


class RestoreBackup(Body):
    """POST …/backups/{backupId}/restore."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"compute_id": 100001, "overwrite": True}]}
    )

    compute_id: Annotated[int, Between(1, 2**63 - 1)]
    overwrite: bool = False
