"""Request bodies of volumes (spec A volumes; reference: operations)."""

from typing import Annotated

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from roost.core.references import OfKind
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.references import ComputeId, Id
from roost.resources.tags.bodies import Tags
from roost.resources.volumes import rules
from roost.web.bodies import Body
from roost.web.checks import Refers, RegionId, catalog_of
from roost.web.fields import WHOLE, Between, Length, refuse

Label = Annotated[
    str,
    Length(1, 32),
    AfterValidator(rules.check_label),
    Field(json_schema_extra={"pattern": f"^(?:{rules.LABEL_PATTERN})$"}),
]
ATTACHED_TO = OfKind(COMPUTE, "read_write", scopes=("computes:read_write",))


class CreateVolume(Body):
    """POST /volumes. The order of the fields is the order of their errors."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"label": "data", "size": 20, "region": "us-lake", "tags": ["backup"]},
                {"label": "data2", "compute_id": 100001, "config_id": 100002},
            ]
        }
    )

    label: Label
    """1 to 32 letters, digits, `-` and `_`, a letter first and none of `--` and `__`; unique in the
    account."""
    size: Annotated[int, Between(rules.MIN_SIZE, rules.MAX_SIZE)] = rules.DEFAULT_SIZE
    """GiB."""
    compute_id: Annotated[Id, Refers(ATTACHED_TO)] | None = None
    """The instance to attach it to; omitted, it is attached to none."""
    region: RegionId | None = Field(default=None, validate_default=True)
    """The region that is to hold it; can be left out with a `compute_id`."""
    config_id: Id | None = None
    """The config of that instance that is to name it; omitted, its only config,
    or the one that was booted last."""
    tags: Tags = []

    @field_validator("region")
    @classmethod
    def _check_region(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None and info.data.get("compute_id", 0) is None:
            raise refuse("Must provide a region or a Compute ID", WHOLE)
        if value is None:
            return value
        region = catalog_of(info).find_region(value)
        if region is None or "Block Storage" not in region.capabilities:
            raise refuse("The region does not offer Block Storage")
        return value

    @field_validator("config_id")
    @classmethod
    def _check_config(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and "compute_id" in info.data and info.data["compute_id"] is None:
            raise refuse("config_id needs a compute_id")
        return value


class UpdateVolume(Body):
    """PUT /volumes/{volumeId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "data", "tags": ["old"]}]})

    label: Label | None = None
    """The new name."""
    tags: Tags | None = None
    """Labels in place of those that it has; for unrestricted users only."""


class AttachVolume(Body):
    """POST /volumes/{volumeId}/attach."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"compute_id": 100001, "persist_across_boots": True}]}
    )

    compute_id: ComputeId
    """The instance, in the same region."""
    config_id: Id | None = None
    """The config of that instance that is to name it; omitted, its only config,
    or the one that was booted last."""
    persist_across_boots: bool = True
    """Whether the config names it, so that the next boot finds it too."""

    @field_validator("persist_across_boots")
    @classmethod
    def _check_persistence(cls, value: bool, info: ValidationInfo) -> bool:
        if not value and info.data.get("config_id") is not None:
            raise refuse("A config cannot name a volume that does not persist across boots")
        return value


class CloneVolume(Body):
    """POST /volumes/{volumeId}/clone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "data-copy"}]})

    label: Label
    """The name of the copy."""


class ResizeVolume(Body):
    """POST /volumes/{volumeId}/resize; `size` in GiB, more than it is and at most 10240."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"size": 40}]})

    size: Annotated[
        int, Field(json_schema_extra={"minimum": rules.MIN_SIZE, "maximum": rules.MAX_SIZE})
    ]
    """GiB; more than it has, 10240 at most."""
