"""Request bodies of domains (spec B, Domain; reference: operations, Domains)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from roost.resources.domains import rules
from roost.resources.domains.dns import Dns
from roost.resources.domains.names import check_domain
from roost.resources.domains.records import DomainStatus, DomainType
from roost.resources.tags.labels import Tags
from roost.services import Services
from roost.web.bodies import Body
from roost.web.fields import EMAIL_PATTERN, EMAIL_REASON, Length, Pattern, refuse

EMAIL_REQUIRED = "soa_email required when type=master"
MASTERS_REQUIRED = "You need at least one master DNS server IP address for this zone."
UNSIGNABLE = "Only a master domain is signed here"

DomainName = Annotated[str, AfterValidator(check_domain)]
Seconds = Annotated[int, AfterValidator(rules.round_up)]
Addresses = Annotated[list[str], AfterValidator(rules.check_addresses)]

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
    services = info.context
    assert isinstance(services, Services)
    for address in addresses:
        services.get(Dns).check_public(address)
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
    type: DomainType
    status: DomainStatus = "active"
    soa_email: SoaEmail = Field(default="", validate_default=True)
    description: Description = ""
    group: Group = ""
    master_ips: Addresses = Field(default=[], validate_default=True)
    axfr_ips: Secondaries = []
    refresh_sec: Seconds = 0
    retry_sec: Seconds = 0
    expire_sec: Seconds = 0
    ttl_sec: Seconds = 0
    tags: Tags = []
    dnssec: bool = False

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
    type: DomainType | None = None
    status: DomainStatus | None = None
    soa_email: SoaEmail | None = None
    description: Description | None = None
    group: Group | None = None
    master_ips: Addresses | None = None
    axfr_ips: Secondaries | None = None
    refresh_sec: Seconds | None = None
    retry_sec: Seconds | None = None
    expire_sec: Seconds | None = None
    ttl_sec: Seconds | None = None
    tags: Tags | None = None
    dnssec: bool | None = None


class CloneDomain(Body):
    """POST /domains/{domainId}/clone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"domain": "example.org"}]})

    domain: DomainName


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
    zone_file: str | None = None
    remote_nameserver: str | None = Field(default=None, validate_default=True)

    @field_validator("remote_nameserver")
    @classmethod
    def _check_source(cls, value: str | None, info: ValidationInfo) -> str | None:
        services, zone_file = info.context, info.data.get("zone_file")
        assert isinstance(services, Services)
        if value is None and zone_file is None:
            raise refuse("remote_nameserver is required")
        if value is not None and zone_file is not None:
            raise refuse("Must not be given together with zone_file")
        if value is not None:
            services.get(Dns).check_nameserver(value)
        return value
