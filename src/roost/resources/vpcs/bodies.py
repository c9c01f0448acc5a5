"""Request bodies of VPCs and subnets (reference: operations, VPC)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, JsonValue, ValidationInfo, field_validator

from roost.resources.vpcs import rules
from roost.web.bodies import Body
from roost.web.checks import RegionId, catalog_of
from roost.web.fields import Length, Pattern, ShortText, refuse

Label = Annotated[str, Length(1, 64), Pattern(rules.LABEL_PATTERN, rules.LABEL_REASON)]
Description = Annotated[str, Length(0, 255)]
Network = Annotated[ShortText, AfterValidator(rules.check_subnet)]

_SUBNET: dict[str, JsonValue] = {"label": "front", "ipv4": "10.0.1.0/24"}


class CreateSubnet(Body):
    """POST /vpcs/{vpcId}/subnets. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SUBNET]})

    label: Label
    """The name of the subnet, which no other of the VPC has."""
    ipv4: Network
    """Its network, of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16 but 192.168.128.0/17, with a
    prefix length of at most 29. It overlaps no other of the VPC."""


class UpdateSubnet(Body):
    """PUT /vpcs/{vpcId}/subnets/{vpcSubnetId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "back"}]})

    label: Label | None = None
    """The new name."""


class CreateVpc(Body):
    """POST /vpcs."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"label": "shop", "region": "us-lake", "subnets": [_SUBNET]}]
        }
    )

    label: Label
    """The name of the VPC, which no other of the account has."""
    region: RegionId
    """Where it is. Instances of this region can be in it."""
    description: Description = ""
    """What it is for."""
    subnets: Annotated[list[CreateSubnet], Length(0, rules.MAX_SUBNETS)] = []
    """Its first subnets."""

    @field_validator("region")
    @classmethod
    def _check_region(cls, value: str, info: ValidationInfo) -> str:
        region = catalog_of(info).find_region(value)
        if region is not None and "VPCs" not in region.capabilities:
            raise refuse("The region does not offer VPCs")
        return value


class UpdateVpc(Body):
    """PUT /vpcs/{vpcId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"description": "the web shop"}]})

    label: Label | None = None
    """The new name."""
    description: Description | None = None
    """What it is for."""
