"""Request bodies of domains (spec B domains; reference: operations, Domains)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from roost.resources.domains import rules
from roost.resources.domains.name_rules import MAX_NAME, check_domain
from roost.resources.domains.records import DomainStatus, DomainType
from roost.resources.domains.settings import Dns
from roost.resources.tags.bodies import Tags
from roost.web.bodies import Body
from roost.web.checks import checks_of
from roost.web.fields import (
    DEPRECATED,
    EMAIL_PATTERN,
    EMAIL_REASON,
    Length,
    Pattern,
    ShortText,
    refuse,
)

EMAIL_REQUIRED = "soa_email required when type=master"
MASTERS_REQUIRED = "You need at least one master DNS server IP address for this zone."
UNSIGNABLE = "Only a master domain is signed here"

DomainName = Annotated[
    ShortText,
    AfterValidator(check_domain),
    Field(json_schema_extra={"minLength": 1, "maxLength": MAX_NAME}),
]
Seconds = Annotated[int, AfterValidator(rules.round_up)]
Addresses = Annotated[
    list[ShortText], Length(0, rules.MAX_ADDRESSES), AfterValidator(rules.check_addresses)
]

# Empty where there is none, as clients send whole records back.
Email = Annotated[str, Length(0, 253), Pattern(f"(?:{EMAIL_PATTERN})?", EMAIL_REASON)]
Description = Annotated[str, Length(0, 253)]
Group = Annotated[str, Length(0, 50)]


def check_soa_email(email: str) -> str:
    """What stands before the @ becomes one label of the SOA."""
    if len(email.partition("@")[0]) > 63:
        raise refuse("Must have at most 63 characters before the @")
    return email


def check_public(addresses: list[str], info: ValidationInfo) -> list[str]:
    """The name server sends something there: not within the operator's own network."""
    for address in addresses:
        checks_of(info).services.get(Dns).check_public(address)
    return addresses


SoaEmail = Annotated[Email, AfterValidator(check_soa_email)]
Secondaries = Annotated[Addresses, AfterValidator(check_public)]


class CreateDomain(Body):
    """POST /domains."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"domain": "example.com", "type": "master", "soa_email": "admin@example.com"},
                {"domain": "example.net", "type": "slave", "master_ips": ["203.0.113.53"]},
            ]
        }
    )

    domain: DomainName
    """The name of the zone, such as `example.com`: 1 to 253 characters, unique on this server."""
    type: DomainType
    """`master` zones are edited here, `slave` zones are copied from other name servers."""
    status: DomainStatus = "active"
    """`disabled` zones are not answered."""
    soa_email: SoaEmail = Field(default="", validate_default=True)
    """The address in the SOA record; a master needs one."""
    description: Description = ""
    """Notes of your own."""
    group: Annotated[Group, DEPRECATED] = ""
    """A group of your own choice; use tags instead."""
    master_ips: Addresses = Field(default=[], validate_default=True)
    """The name servers that a slave copies from: at least one. A master keeps them and never asks
    them."""
    axfr_ips: Secondaries = []
    """Addresses that may transfer the whole zone, and are told of changes: none that is private;
    1000 characters at most, all together."""
    refresh_sec: Seconds = 0
    """Seconds between a secondary's looks for changes. Rounded up to the next of 30, 120, 300,
    3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600 and 2419200; 0 for
    14400."""
    retry_sec: Seconds = 0
    """Seconds until a secondary tries again after a failure. Rounded up to the next of 30, 120,
    300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600 and 2419200; 0
    for 14400."""
    expire_sec: Seconds = 0
    """Seconds after which a secondary that reaches nobody answers no more. Rounded up to the next
    of 30, 120, 300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600 and
    2419200; 0 for 1209600."""
    ttl_sec: Seconds = 0
    """Seconds for which answers may be kept, where a record says nothing else. Rounded up to the
    next of 30, 120, 300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600
    and 2419200; 0 for 86400."""
    tags: Tags = []
    dnssec: bool = False
    """Whether the zone is signed; masters only."""

    @field_validator("soa_email")
    @classmethod
    def _check_email(cls, value: str, info: ValidationInfo) -> str:
        if not value and info.data.get("type") == "master":
            raise refuse(EMAIL_REQUIRED)
        return value

    @field_validator("master_ips")
    @classmethod
    def _check_masters(cls, value: list[str], info: ValidationInfo) -> list[str]:
        """Those of a master are kept, and never asked."""
        if info.data.get("type") != "slave":
            return value
        if not value:
            raise refuse(MASTERS_REQUIRED)
        return check_public(value, info)

    @field_validator("dnssec")
    @classmethod
    def _check_dnssec(cls, value: bool, info: ValidationInfo) -> bool:
        if value and info.data.get("type") == "slave":
            raise refuse(UNSIGNABLE)
        return value


class UpdateDomain(Body):
    """PUT /domains/{domainId}; what is omitted stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"status": "disabled"}, {"ttl_sec": 300, "dnssec": True, "tags": []}]
        }
    )

    domain: DomainName | None = None
    """The name of the zone, such as `example.com`: 1 to 253 characters, unique on this server."""
    type: DomainType | None = None
    """A slave keeps the records that it had as a master, but they cannot be edited."""
    status: DomainStatus | None = None
    """`disabled` zones are not answered."""
    soa_email: SoaEmail | None = None
    """The address in the SOA record; a master needs one."""
    description: Description | None = None
    """Notes of your own."""
    group: Annotated[Group | None, DEPRECATED] = None
    """A group of your own choice; use tags instead."""
    master_ips: Addresses | None = None
    """The name servers that a slave copies from: at least one. A master keeps them and never asks
    them."""
    axfr_ips: Secondaries | None = None
    """Addresses that may transfer the whole zone, and are told of changes: none that is private;
    1000 characters at most, all together."""
    refresh_sec: Seconds | None = None
    """Seconds between a secondary's looks for changes. Rounded up to the next of 30, 120, 300,
    3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600 and 2419200; 0 for
    14400."""
    retry_sec: Seconds | None = None
    """Seconds until a secondary tries again after a failure. Rounded up to the next of 30, 120,
    300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600 and 2419200; 0
    for 14400."""
    expire_sec: Seconds | None = None
    """Seconds after which a secondary that reaches nobody answers no more. Rounded up to the next
    of 30, 120, 300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600 and
    2419200; 0 for 1209600."""
    ttl_sec: Seconds | None = None
    """Seconds for which answers may be kept, where a record says nothing else. Rounded up to the
    next of 30, 120, 300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600
    and 2419200; 0 for 86400."""
    tags: Tags | None = None
    """Labels in place of those that it has; for unrestricted users only."""
    dnssec: bool | None = None
    """Whether the zone is signed; masters only."""


class CloneDomain(Body):
    """POST /domains/{domainId}/clone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"domain": "example.org"}]})

    domain: DomainName
    """The name of the copy."""


class ImportDomain(Body):
    """POST /domains/import: from a name server that allows transfers, or from a zone file."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"domain": "example.com", "zone_file": "$TTL 300\n@ IN A 192.0.2.1\n"},
                {"domain": "example.com", "remote_nameserver": "ns1.example.net"},
            ]
        }
    )

    domain: DomainName
    """The name of the zone."""
    zone_file: Annotated[str, Length(0, rules.MAX_ZONE_FILE)] | None = None
    """The zone as a zone file; instead of a name server."""
    remote_nameserver: ShortText | None = Field(default=None, validate_default=True)
    """The name or address of a name server that transfers the zone to this one; instead of a zone
    file."""

    @field_validator("remote_nameserver")
    @classmethod
    def _check_source(cls, value: str | None, info: ValidationInfo) -> str | None:
        zone_file = info.data.get("zone_file")
        if value is None and zone_file is None:
            raise refuse("remote_nameserver is required")
        if value is not None and zone_file is not None:
            raise refuse("Must not be given together with zone_file")
        if value is not None:
            checks_of(info).services.get(Dns).check_nameserver(value)
        return value
