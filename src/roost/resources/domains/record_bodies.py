"""Request bodies of records (spec B domain records; reference: operations, Domains)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from roost.resources.domains import rules
from roost.resources.domains.record_rules import CHECKS, Draft
from roost.resources.domains.records import CaaTag, RecordType
from roost.web.bodies import Body
from roost.web.fields import Between, Length, refuse

Name = Annotated[str, Length(0, 100)]
Target = Annotated[str, Length(0, 65535)]
Priority = Annotated[int, Between(0, 255)]
Number = Annotated[int, Between(0, 65535)]
Ttl = Annotated[int, AfterValidator(rules.round_nearest)]
Text = Annotated[str, Length(0, 64)]

_NEEDS = {
    ("MX", "target"): {"name"},
    ("MX", "priority"): {"name", "target"},
    ("CAA", "target"): {"tag"},
}
"""Fields without which nothing can be said of another one, by type."""


class CreateRecord(Body):
    """POST /domains/{domainId}/records."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"type": "A", "name": "www", "target": "192.0.2.1", "ttl_sec": 300},
                {
                    "type": "SRV",
                    "service": "sip",
                    "protocol": "tcp",
                    "target": "sip",
                    "priority": 10,
                    "weight": 5,
                    "port": 5060,
                },
            ]
        }
    )

    type: RecordType
    """The type of the record."""
    name: Name = Field(default="", validate_default=True)
    """The name below the zone; empty for the zone itself. SRV makes its own of service and
    protocol."""
    tag: CaaTag | None = Field(default=None, validate_default=True)
    """CAA needs one: what the target may do."""
    target: Target | None = Field(default=None, validate_default=True)
    """What the name leads to: an address for A and AAAA (`[remote_addr]` is your own), a host name
    for NS, MX, CNAME, SRV and PTR, a text for TXT, a certificate authority or address for CAA."""
    priority: Priority | None = Field(default=None, validate_default=True)
    """MX and SRV only: the smallest is tried first. SRV needs one."""
    weight: Number | None = Field(default=None, validate_default=True)
    """SRV only, which needs one: the share among targets of the same priority."""
    port: Number | None = Field(default=None, validate_default=True)
    """SRV only, which needs one: the port of the service."""
    service: Text | None = Field(default=None, validate_default=True)
    """SRV only: the service, such as `sip`; a `_` is put before it."""
    protocol: Text | None = Field(default=None, validate_default=True)
    """SRV only: the protocol, such as `tcp`; a `_` is put before it."""
    ttl_sec: Ttl = 0
    """Seconds for which the answer may be kept, moved to the nearest of 300, 3600, 7200, 14400,
    28800, 57600, 86400, 172800, 345600, 604800, 1209600 and 2419200; 0 for the domain's."""

    @field_validator(*CHECKS)
    @classmethod
    def _check(cls, value: object, info: ValidationInfo) -> object:
        field, kind = info.field_name or "", info.data.get("type")
        if kind is not None and _NEEDS.get((kind, field), set()) <= info.data.keys():
            data = info.data.copy()
            data[field] = value
            CHECKS[field](Draft(**data))
        return value

    @property
    def draft(self) -> Draft:
        return Draft(**self.model_dump())


class UpdateRecord(Body):
    """PUT /domains/{domainId}/records/{recordId}; what is omitted stays as it is.

    What a type demands is checked when the record is known.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"target": "192.0.2.2", "ttl_sec": 3600}]}
    )

    type: Text | None = None
    """As it is: a record of another type is another record."""
    name: Name | None = None
    """The name below the zone; empty for the zone itself. SRV makes its own of service and
    protocol."""
    tag: Text | None = None
    """CAA needs one: what the target may do."""
    target: Target | None = None
    """What the name leads to: an address for A and AAAA (`[remote_addr]` is your own), a host name
    for NS, MX, CNAME, SRV and PTR, a text for TXT, a certificate authority or address for CAA."""
    priority: Priority | None = None
    """MX and SRV only: the smallest is tried first. SRV needs one."""
    weight: Number | None = None
    """SRV only, which needs one: the share among targets of the same priority."""
    port: Number | None = None
    """SRV only, which needs one: the port of the service."""
    service: Text | None = None
    """SRV only: the service, such as `sip`; a `_` is put before it."""
    protocol: Text | None = None
    """SRV only: the protocol, such as `tcp`; a `_` is put before it."""
    ttl_sec: Ttl | None = None
    """Seconds for which the answer may be kept, moved to the nearest of 300, 3600, 7200, 14400,
    28800, 57600, 86400, 172800, 345600, 604800, 1209600 and 2419200; 0 for the domain's."""

    @field_validator("tag")
    @classmethod
    def _check_tag(cls, value: str | None) -> str | None:
        """Empty, as in the records of other types that clients send back."""
        if value and value not in ("issue", "issuewild", "iodef"):
            raise refuse("Must be one of issue, issuewild, iodef")
        return value
