"""Request bodies of addresses (spec B networking; reference: operations)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, StrictBool, model_validator

from roost.resources.compute.references import ComputeId, Id
from roost.resources.networking import rules
from roost.web.bodies import Body
from roost.web.checks import RegionId
from roost.web.fields import INTEGER, Length, ShortText, refuse


class NewAddress(Body):
    """POST /compute/instances/{computeId}/ips."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"type": "ipv4", "public": True}]})

    type: Annotated[Literal["ipv4"], BeforeValidator(rules.check_type)]
    """Addresses of IPv6 come as ranges."""
    public: StrictBool
    """Whether the Internet is to reach it; an instance has one private address at most."""


class AllocateAddress(NewAddress):
    """POST /networking/ips."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"type": "ipv4", "public": True, "compute_id": 100001}]}
    )

    compute_id: ComputeId
    """The instance that gets it."""


class Assignment(Body):
    """One address and who gets it."""

    address: Annotated[ShortText, AfterValidator(rules.check_assigned)]
    """An IPv4 address of an instance of yours, or an IPv6 range with its prefix length."""
    compute_id: Id
    """The instance that has it from now on."""
    region: RegionId | None = None
    """Where both are: that of the request, or omitted."""


class AssignAddresses(Body):
    """POST /networking/ips/assign: all or nothing."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "region": "us-lake",
                    "assignments": [{"address": "192.0.2.10", "compute_id": 100001}],
                }
            ]
        }
    )

    region: RegionId
    """Where all of the addresses and instances are."""
    assignments: Annotated[list[Assignment], Length(1, rules.MAX_AT_ONCE)]
    """The addresses that move."""


class ShareAddresses(Body):
    """POST /networking/ips/share."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"compute_id": 100001, "ips": ["192.0.2.10"]}]}
    )

    compute_id: ComputeId
    """The instance that may take the addresses over."""
    ips: Annotated[
        list[Annotated[ShortText, AfterValidator(rules.check_shared)]], Length(0, rules.MAX_AT_ONCE)
    ]
    """Public addresses, and IPv6 ranges without their prefix lengths, of other instances of its
    region, in place of those that it could take over before; none ends all sharing."""


class CreateRange(Body):
    """POST /networking/ipv6/ranges."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"prefix_length": 64, "compute_id": 100001}]}
    )

    prefix_length: Annotated[Literal[56, 64], INTEGER]
    """How large it is."""
    compute_id: ComputeId | None = None
    """The instance to which it is routed; either this or `route_target`."""
    route_target: Annotated[ShortText, AfterValidator(rules.check_ipv6)] | None = None
    """The SLAAC address of that instance."""

    @model_validator(mode="after")
    def _check_target(self) -> "CreateRange":
        if (self.compute_id is None) == (self.route_target is None):
            raise refuse("Must name either compute_id or route_target")
        return self
