"""The records of domains (spec B, Domain, Domain record; reference: Domain)."""

from typing import Literal

from typing_extensions import TypedDict

DomainType = Literal["master", "slave"]
DomainStatus = Literal["disabled", "active"]
RecordType = Literal["A", "AAAA", "NS", "MX", "CNAME", "TXT", "SRV", "PTR", "CAA"]
CaaTag = Literal["issue", "issuewild", "iodef"]


class DomainRow(TypedDict):
    """A zone. Times in seconds; 0 is the default."""

    id: int
    type: DomainType
    domain: str
    group: str
    status: DomainStatus
    description: str
    soa_email: str
    retry_sec: int
    master_ips: list[str]
    axfr_ips: list[str]
    expire_sec: int
    refresh_sec: int
    ttl_sec: int
    tags: list[str]
    dnssec: bool
    errors: str
    created: str
    updated: str


class RecordRow(TypedDict):
    """One resource record of a zone. ttl_sec in seconds; 0 is the domain's."""

    id: int
    type: RecordType
    name: str
    target: str
    priority: int
    weight: int
    port: int
    service: str | None
    protocol: str | None
    ttl_sec: int
    tag: CaaTag | None
    created: str
    updated: str


class ZoneFileRow(TypedDict):
    """A zone as lines of a zone file (RFC 1035, 5)."""

    zone_file: list[str]


class DsRow(TypedDict):
    """What a registrar wants to know of one key (RFC 4034, 5.1)."""

    key_tag: int
    algorithm: int
    digest_type: int
    digest: str
    dnskey: str


class DnssecRow(TypedDict):
    """Whether a zone is signed, and what its registrar must be told."""

    dnssec: bool
    ds_records: list[DsRow]
