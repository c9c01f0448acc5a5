"""Request bodies of records (spec B, Domain record; reference: operations, Domains)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from roost.resources.domains import rules
from roost.resources.domains.drafts import Draft
from roost.resources.domains.record_rules import CHECKS
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
    name: Name = Field(default="", validate_default=True)
    tag: CaaTag | None = Field(default=None, validate_default=True)
    target: Target | None = Field(default=None, validate_default=True)
    priority: Priority | None = Field(default=None, validate_default=True)
    weight: Number | None = Field(default=None, validate_default=True)
    port: Number | None = Field(default=None, validate_default=True)
    service: Text | None = Field(default=None, validate_default=True)
    protocol: Text | None = Field(default=None, validate_default=True)
    ttl_sec: Ttl = 0

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

    name: Name | None = None
    tag: Text | None = None
    target: Target | None = None
    priority: Priority | None = None
    weight: Number | None = None
    port: Number | None = None
    service: Text | None = None
    protocol: Text | None = None
    ttl_sec: Ttl | None = None

    @field_validator("tag")
    @classmethod
    def _check_tag(cls, value: str | None) -> str | None:
        """Empty, as in the records of other types that clients send back."""
        if value and value not in ("issue", "issuewild", "iodef"):
            raise refuse("Must be one of issue, issuewild, iodef")
        return value
