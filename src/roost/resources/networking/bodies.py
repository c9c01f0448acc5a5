"""Request bodies of addresses (spec B networking; reference: operations)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, StrictBool

from roost.resources.compute.references import ComputeId
from roost.resources.networking import rules
from roost.web.bodies import Body
from roost.web.checks import RegionId
from roost.web.fields import Length, ShortText

Ipv4 = Annotated[ShortText, AfterValidator(rules.check_ipv4)]


class NewAddress(Body):
    """POST /compute/instances/{computeId}/ips."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"type": "ipv4", "public": True}]})

    type: Literal["ipv4"]
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

    address: Ipv4
    """An address of an instance of yours."""
    compute_id: ComputeId
    """The instance that has it from now on."""


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
    ips: Annotated[list[Ipv4], Length(0, rules.MAX_AT_ONCE)]
    """Public addresses of other instances of its region, in place of those that it could take over
    before; none ends all sharing."""
