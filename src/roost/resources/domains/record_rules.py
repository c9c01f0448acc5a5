"""What each type of record demands of its fields (spec B domain records; reference: the table).

A check raises the refusal of one field. `CHECKS` is in the order of the errors.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from roost.resources.domains import name_rules
from roost.resources.domains.records import CaaTag, RecordType
from roost.web.fields import EMAIL_PATTERN, refuse


@dataclass(frozen=True, slots=True)
class Draft:
    """A record as it was sent."""

    type: RecordType
    name: str = ""
    tag: CaaTag | None = None
    target: str | None = None
    priority: int | None = None
    weight: int | None = None
    port: int | None = None
    service: str | None = None
    protocol: str | None = None
    ttl_sec: int = 0
    critical: bool = False
    """Of a CAA record: who does not know its tag issues nothing. Only imports say so."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A record as its row holds it."""

    type: RecordType
    name: str
    target: str
    priority: int
    weight: int
    port: int
    service: str | None
    protocol: str | None
    tag: CaaTag | None
    ttl_sec: int
    owner: str
    """The name below the zone in lower case."""
    content: str
    """Presentation format, names absolute."""

    @property
    def critical(self) -> bool:
        return self.type == "CAA" and self.content.startswith(f"{CRITICAL} ")

    @property
    def size(self) -> int:
        """What it counts for in the size of its domain."""
        return len(self.target.encode())


REMOTE_ADDRESS: Final = "[remote_addr]"
"""As the target of an A or AAAA record: the address of the caller."""

CRITICAL: Final = 128
"""The flag of a CAA record that is critical (RFC 8659, 4.1)."""

MAX_AUTHORITY = 1024
"""Characters of a CAA record's target, which is looked at piece by piece."""

_BLANKS = " \t"
_PARAMETER = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_VALUE = re.compile(r"[\x21-\x3a\x3c-\x7e]*")
_URL = re.compile(r"https?://[!$-.0->@-\[\]-~][!#-\[\]-~]*")
_MAILTO = re.compile(rf"mailto:{EMAIL_PATTERN}")
_SERVICE = re.compile(r"_?(?![-_])[A-Za-z0-9_-]{1,62}(?<!-)")

ISSUER_REASON = "Must be a domain name without a final period, or none, and parameters after a `;`"
IODEF_REASON = "Must be a domain name, an http or https URL, or mailto: and an email address"
IPV4_REASON = "Must be an IPv4 address"
IPV6_REASON = "Must be an IPv6 address"
MAPPED_REASON = (
    "Must be an IPv6 address of its own: one that wraps an IPv4 address is for A records"
)
NAME_REQUIRED = "name is required"
APEX_REASON = (
    "Must be below the domain: its own name has SOA and NS records, beside which no CNAME can be"
)
SERVICE_REASON = (
    "Must be 1-62 letters, digits, hyphens and underscores, with none of the latter two at its "
    "beginning but one underscore, and no hyphen at its end"
)


def check_name(draft: Draft) -> None:
    name_rules.check_record_name(draft.name, wildcard=draft.type != "NS")
    if draft.type == "CNAME" and draft.name in ("", "@"):
        raise refuse(APEX_REASON if draft.name else NAME_REQUIRED)


def check_tag(draft: Draft) -> None:
    if draft.type == "CAA" and not draft.tag:
        raise refuse("tag is required")
    if draft.type != "CAA" and draft.tag:
        raise refuse("Must only be given for a CAA record")


def check_target(draft: Draft) -> None:
    if is_null_mx(draft):
        return
    if not draft.target:
        raise refuse("target is required")
    _TARGETS[draft.type](draft.target, draft)


def is_null_mx(draft: Draft) -> bool:
    """A domain that takes no mail (RFC 7505)."""
    return draft.type == "MX" and draft.target == "" and draft.name in ("", "@")


def _ipv4(target: str, draft: Draft) -> None:
    if target != REMOTE_ADDRESS and not _parses(IPv4Address, target):
        raise refuse(IPV4_REASON)


def _ipv6(target: str, draft: Draft) -> None:
    """One that wraps an IPv4 address is no host's (RFC 4291, 2.5.5.2), and PowerDNS takes none."""
    if target == REMOTE_ADDRESS:
        return
    if "%" in target or not _parses(IPv6Address, target):
        raise refuse(IPV6_REASON)
    if IPv6Address(target).ipv4_mapped:
        raise refuse(MAPPED_REASON)


def _parses(kind: Callable[[str], IPv4Address | IPv6Address], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _host(target: str, draft: Draft) -> None:
    name_rules.check_host(target)


def _name(target: str, draft: Draft) -> None:
    name_rules.check_dotted(target)


def _server(target: str, draft: Draft) -> None:
    """A bare subdomain counts as one of the zone; "." says that the service is not there."""
    if target != ".":
        name_rules.check_target(target)


def _text(target: str, draft: Draft) -> None:
    try:
        target.encode()
    except UnicodeEncodeError:
        raise refuse("Must be Unicode text") from None


def _authority(target: str, draft: Draft) -> None:
    if len(target) > MAX_AUTHORITY:
        raise refuse(f"Must have at most {MAX_AUTHORITY} characters")
    if draft.tag == "iodef":
        if not (_URL.fullmatch(target) or _MAILTO.fullmatch(target) or _is_domain(target)):
            raise refuse(IODEF_REASON)
        return
    issuer, semicolon, parameters = target.partition(";")
    named = issuer.strip(_BLANKS)
    if not (_is_issuer(named) or (semicolon and not named)):
        raise refuse(ISSUER_REASON)
    if parameters.strip(_BLANKS) and not all(map(_is_parameter, parameters.split(";"))):
        raise refuse(ISSUER_REASON)


def _is_parameter(text: str) -> bool:
    """RFC 8659, 4.2."""
    name, equals, value = (part.strip(_BLANKS) for part in text.partition("="))
    return bool(equals and _PARAMETER.fullmatch(name) and _VALUE.fullmatch(value))


def _is_issuer(text: str) -> bool:
    """A single label is a name too (RFC 8659, 4.2), such as `none`, which no authority has."""
    return _is_domain(text if "." in text else f"{text}.label")


def _is_domain(text: str) -> bool:
    try:
        name_rules.check_dotted(text)
    except ValueError:
        return False
    return not text.endswith(".")


_TARGETS: Mapping[RecordType, Callable[[str, Draft], None]] = {
    "A": _ipv4,
    "AAAA": _ipv6,
    "NS": _host,
    "MX": _host,
    "CNAME": _name,
    "TXT": _text,
    "SRV": _server,
    "PTR": _name,
    "CAA": _authority,
}


def check_priority(draft: Draft) -> None:
    if draft.type == "SRV" and draft.priority is None:
        raise refuse("priority is required")
    if draft.type not in ("MX", "SRV") and draft.priority:
        raise refuse("Must only be given for an MX or SRV record")
    if is_null_mx(draft) and draft.priority:
        raise refuse("Must be 0 where the target is empty")


def check_weight(draft: Draft) -> None:
    _check_number(draft, "weight", draft.weight)


def check_port(draft: Draft) -> None:
    _check_number(draft, "port", draft.port)


def _check_number(draft: Draft, field: str, value: int | None) -> None:
    if draft.type == "SRV" and value is None:
        raise refuse(f"{field} is required")
    if draft.type != "SRV" and value:
        raise refuse("Must only be given for an SRV record")


def check_service(draft: Draft) -> None:
    _check_label(draft, draft.service)


def check_protocol(draft: Draft) -> None:
    _check_label(draft, draft.protocol)


def _check_label(draft: Draft, value: str | None) -> None:
    if value and draft.type != "SRV":
        raise refuse("Must only be given for an SRV record")
    if value and not is_service(value):
        raise refuse(SERVICE_REASON)


def is_service(label: str) -> bool:
    """Whether a label may be that of a service or a protocol: also with underscores, which are in
    names that were never registered (RFC 6335, 5.1, has none)."""
    return _SERVICE.fullmatch(label) is not None


CHECKS: Mapping[str, Callable[[Draft], None]] = {
    "name": check_name,
    "tag": check_tag,
    "target": check_target,
    "priority": check_priority,
    "weight": check_weight,
    "port": check_port,
    "service": check_service,
    "protocol": check_protocol,
}
