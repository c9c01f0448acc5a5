"""The request body of a clone (reference: operations, Compute instances)."""

from typing import Annotated

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from roost.resources.compute.bodies import MAX_GROUP, Id, Label, Metadata
from roost.resources.compute.entity import ComputeId
from roost.resources.compute.lifecycle import examples
from roost.web.bodies import Body
from roost.web.checks import PlanId, RegionId, catalog_of
from roost.web.fields import DEPRECATED, Length, refuse

Ids = Annotated[list[Id], Length(0, 100)]

_ONLY_NEW = "Must be left out when cloning to an existing Compute"


class CloneInstance(Body):
    """POST …/clone. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": examples.CLONE})

    compute_id: ComputeId | None = None
    """An instance of yours that the disks and configs are added to; omitted, a new one is made."""
    region: RegionId | None = Field(default=None, validate_default=True)
    """The region of the new instance, which needs one."""
    type: PlanId | None = Field(default=None, validate_default=True)
    """The plan of the new instance, which needs one."""
    label: Label | None = None
    """The name of the new instance."""
    group: Annotated[Annotated[str, Length(0, MAX_GROUP)] | None, DEPRECATED] = None
    """A group of your own choice; use tags instead."""
    backups_enabled: bool = False
    """Whether the new instance is backed up."""
    disks: Ids | None = None
    """More disks to copy than those of the configs."""
    configs: Ids | None = None
    """The configs to copy; omitted, all."""
    private_ip: bool = False
    """Whether the new instance has a private IPv4 address too."""
    metadata: Metadata | None = None
    """What cloud-init is told."""

    @field_validator("region")
    @classmethod
    def _check_region(cls, value: str | None, info: ValidationInfo) -> str | None:
        if _is_new(info) and value is None:
            raise refuse("region is required")
        return value

    @field_validator("type")
    @classmethod
    def _check_type(cls, value: str | None, info: ValidationInfo) -> str | None:
        if _is_new(info) and value is None:
            raise refuse("type is required")
        region = info.data.get("region")
        if value and region and not catalog_of(info).offers(region, value):
            raise refuse("The region has no capacity for this plan type")
        return value

    @field_validator("backups_enabled")
    @classmethod
    def _check_backups_enabled(cls, value: bool, info: ValidationInfo) -> bool:
        region = catalog_of(info).find_region(info.data.get("region") or "")
        if value and region is not None and "Backups" not in region.capabilities:
            raise refuse("The region does not offer backups")
        return value

    @field_validator(
        "region", "type", "label", "group", "backups_enabled", "private_ip", "metadata"
    )
    @classmethod
    def _check_only_new(cls, value: object, info: ValidationInfo) -> object:
        existing = info.data.get("compute_id") is not None
        if existing and value not in (None, False):
            raise refuse(_ONLY_NEW)
        return value


def _is_new(info: ValidationInfo) -> bool:
    """Whether a new instance is wanted; no when the existing one was itself refused."""
    return "compute_id" in info.data and info.data["compute_id"] is None
