"""Network interfaces of an instance, as declared at creation (spec B interfaces)."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, ip_interface
from typing import Annotated, Literal, Protocol, TypeVar

from pydantic import Field, ValidationInfo, field_validator

from roost.resources.compute.references import SUBNET
from roost.resources.compute.rules import VLAN_LABEL_PATTERN, VLAN_LABEL_REASON
from roost.web.bodies import Body
from roost.web.checks import checks_of
from roost.web.fields import Between, Length, ShortText, refuse

T = TypeVar("T")
Purpose = Literal["public", "vlan", "vpc"]
Ranges = Annotated[list[ShortText], Length(0, 64)]

MAX_INTERFACES = 3

ONLY_VPC = "Must be null or empty unless the purpose is vpc"


# What these say is checked where the purpose is known.
VlanLabel = Annotated[
    ShortText, Field(json_schema_extra={"maxLength": 64, "pattern": f"^(?:{VLAN_LABEL_PATTERN})?$"})
]
Cidr = Annotated[ShortText, Field(json_schema_extra={"pattern": "^(?:[0-9A-Fa-f:.]+/[0-9]+)?$"})]


class InterfaceIpv4(Body):
    """Addresses of a vpc interface."""

    vpc: ShortText | None = None
    """The address inside the VPC; omitted, one is chosen."""
    nat_1_1: ShortText | None = None
    """A public address of the instance that is to reach it, or `any`."""

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return self.vpc is not None or self.nat_1_1 is not None


class Interface(Body):
    """One interface; its position in the array makes it eth0, eth1 or eth2."""

    purpose: Purpose
    """The network: the public one (once at most), a VLAN or a VPC."""
    label: VlanLabel | None = Field(default=None, validate_default=True)
    """The VLAN, which is made if it is new; for this purpose only, which needs it. ASCII letters,
    digits and `-`, no `--`."""
    ipam_address: Cidr | None = None
    """The guest's own address in the VLAN, with the prefix length; for this purpose only."""
    primary: bool = False
    """Whether the guest's default route is here: one at most, and no VLAN. Omitted everywhere, it
    is the first that is no VLAN."""
    subnet_id: Annotated[int, Between(1, 2**63 - 1)] | None = Field(
        default=None, validate_default=True
    )
    """The subnet of a VPC, for this purpose only, which needs it; users need to be able to change
    the VPC."""
    ipv4: InterfaceIpv4 | None = None
    """Addresses in a VPC; for this purpose only."""
    ip_ranges: Ranges | None = None
    """IPv4 networks that a VPC routes here; for this purpose only."""

    @field_validator("label")
    @classmethod
    def _check_label(cls, value: str | None, info: ValidationInfo) -> str | None:
        if not _is(info, "vlan"):
            return _only_for("vlan", value, info)
        if not value:
            raise refuse("label is required")
        if len(value) > 64:
            raise refuse("Length must be 1-64 characters")
        if not re.fullmatch(VLAN_LABEL_PATTERN, value):
            raise refuse(VLAN_LABEL_REASON)
        return value

    @field_validator("ipam_address")
    @classmethod
    def _check_ipam_address(cls, value: str | None, info: ValidationInfo) -> str | None:
        if not _is(info, "vlan"):
            return _only_for("vlan", value, info)
        if value:
            _check_cidr(value)
        return value

    @field_validator("primary")
    @classmethod
    def _check_primary(cls, value: bool, info: ValidationInfo) -> bool:
        if value and _is(info, "vlan"):
            raise refuse("Must be false for a vlan interface")
        return value

    @field_validator("subnet_id")
    @classmethod
    def _check_subnet(cls, value: int | None, info: ValidationInfo) -> int | None:
        if not _is(info, "vpc"):
            return _only_for("vpc", value, info)
        if value is None:
            raise refuse("subnet_id is required")
        found = checks_of(info).references.find(SUBNET, (value,))
        if found is not None and value not in found:
            raise refuse("subnet_id is not valid")
        return value

    @field_validator("ipv4")
    @classmethod
    def _check_ipv4(cls, value: InterfaceIpv4 | None, info: ValidationInfo) -> InterfaceIpv4 | None:
        return value if _is(info, "vpc") else _only_for("vpc", value, info)

    @field_validator("ip_ranges")
    @classmethod
    def _check_ranges(cls, value: list[str] | None, info: ValidationInfo) -> list[str] | None:
        if not _is(info, "vpc"):
            return _only_for("vpc", value, info)
        for text in value or ():
            _check_network(text)
        return value


Interfaces = Annotated[
    list[Interface], Length(0, 16), Field(json_schema_extra={"maxItems": MAX_INTERFACES})
]
"""Those of one instance, which `check_together` checks."""


def check_together(interfaces: Sequence[Interface]) -> None:
    """What holds among the interfaces of one instance."""
    if len(interfaces) > MAX_INTERFACES:
        raise refuse(f"Length must be 1-{MAX_INTERFACES} items")
    if sum(i.purpose == "public" for i in interfaces) > 1:
        raise refuse("At most one interface may be public")
    if sum(i.primary for i in interfaces) > 1:
        raise refuse("At most one interface may be primary")
    labels = [i.label for i in interfaces if i.purpose == "vlan"]
    if len(set(labels)) < len(labels):
        raise refuse("The labels of vlan interfaces must differ")


class Described(Protocol):
    """An interface that is wanted, or one that there is."""

    @property
    def purpose(self) -> Purpose: ...

    @property
    def primary(self) -> bool: ...


def primary_of(interfaces: Sequence[Described]) -> int | None:
    """The position of the primary one: the first that is no VLAN, when none is set."""
    flags = [each.primary for each in interfaces]
    if True in flags:
        return flags.index(True)
    return next((n for n, each in enumerate(interfaces) if each.purpose != "vlan"), None)


def _is(info: ValidationInfo, purpose: Purpose) -> bool:
    return info.data.get("purpose") == purpose


def _only_for(purpose: Purpose, value: T, info: ValidationInfo) -> T:
    """Nothing is said about a purpose that was itself refused."""
    if value and "purpose" in info.data:
        raise refuse(f"Must be null or empty unless the purpose is {purpose}")
    return value


def _check_cidr(text: str) -> None:
    try:
        ip_interface(text)
    except ValueError:
        text = ""
    if not re.fullmatch(r"[0-9A-Fa-f:.]+/[0-9]+", text):
        raise refuse("Must be an IP address with a prefix length")


def _check_network(text: str) -> None:
    try:
        IPv4Network(text)
    except ValueError:
        text = ""
    if not re.fullmatch(r"[0-9.]+/[0-9]+", text):
        raise refuse("Must be an IPv4 network")
