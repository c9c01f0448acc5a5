"""The records of domains (spec B domains, B domain records; reference: Domain)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Grouping, Id, TagLabels, Updated

DomainType = Literal["master", "slave"]
DomainStatus = Literal["disabled", "active"]
RecordType = Literal["A", "AAAA", "NS", "MX", "CNAME", "TXT", "SRV", "PTR", "CAA"]
CaaTag = Literal["issue", "issuewild", "iodef"]


class DomainRow(TypedDict):
    """A zone. Times in seconds; 0 is the default."""

    id: Id
    type: DomainType
    """`master` zones are edited here, `slave` zones are copied from other name servers."""
    domain: Folded[str]
    """The name of the zone, without a dot at its end."""
    group: Filtered[Grouping]
    status: DomainStatus
    """`disabled` zones are not answered."""
    description: str
    """Notes of your own."""
    soa_email: str
    """The address in the SOA record; empty for a slave."""
    retry_sec: int
    """Seconds until a secondary tries again after a failure; 0 for 14400."""
    master_ips: list[str]
    """Where a slave zone is copied from."""
    axfr_ips: list[str]
    """Addresses that may transfer the whole zone."""
    expire_sec: int
    """Seconds after which a secondary that reaches nobody answers no more; 0 for 1209600."""
    refresh_sec: int
    """Seconds between a secondary's looks for changes; 0 for 14400."""
    ttl_sec: int
    """Seconds for which answers may be kept, where a record says nothing else; 0 for 86400."""
    tags: Filtered[TagLabels]
    dnssec: bool
    """Whether the zone is signed."""
    errors: str
    """Why the zone could not be imported or transferred; empty when nothing is wrong."""
    created: Created
    updated: Updated


class RecordRow(TypedDict):
    """One resource record of a zone. ttl_sec in seconds; 0 is the domain's."""

    id: Id
    type: Filtered[RecordType]
    """The type of the record, which never changes."""
    name: Folded[str]
    """The name below the zone; empty for the zone itself."""
    target: Folded[str]
    """What the name leads to: an address, a host name or a text, by type."""
    priority: int
    """MX and SRV: the smallest is tried first."""
    weight: int
    """SRV: the share among targets of the same priority."""
    port: int
    """SRV: the port of the service."""
    service: str | None
    """SRV: the service with a `_` before it; null for other types."""
    protocol: str | None
    """SRV: the protocol with a `_` before it; null for other types."""
    ttl_sec: int
    """Seconds for which the answer may be kept; 0 for the domain's."""
    tag: Filtered[CaaTag | None]
    """CAA: what the target may do; null for other types."""
    created: Created
    updated: Updated


class ZoneFileRow(TypedDict):
    """A zone as lines of a zone file (RFC 1035, 5)."""

    zone_file: list[str]
    """The lines of the file."""


class DsRow(TypedDict):
    """What a registrar wants to know of one key (RFC 4034, 5.1)."""

    key_tag: int
    """A short number of the key."""
    algorithm: int
    """The number of the key's algorithm."""
    digest_type: int
    """The number of the digest's algorithm."""
    digest: str
    """The digest in hexadecimal."""
    dnskey: str
    """The public key as its record has it."""


class DnssecRow(TypedDict):
    """Whether a zone is signed, and what its registrar must be told."""

    dnssec: bool
    """Whether the zone is signed."""
    ds_records: list[DsRow]
    """The DS records that the registrar publishes; empty while it is not signed."""
