"""Records of other name servers and of zone files as records of a domain.

All or nothing: a zone with a record that cannot be kept is refused as a whole, and every such
record is named.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import dns.exception
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.tokenizer
import dns.zonefile
from pydantic_core import PydanticCustomError

from roost.errors import ApiError
from roost.resources.domains import rules
from roost.resources.domains.name_rules import HOST_REASON
from roost.resources.domains.record_rules import (
    APEX_REASON,
    CHECKS,
    CRITICAL,
    Draft,
    Placed,
    is_service,
)
from roost.resources.domains.records import CaaTag
from roost.resources.domains.rules import MAX_FOUND, MAX_RECORDS
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_rules import conflicts, place, quoted, unquoted


@dataclass(slots=True)
class Source:
    """Not frozen, as that would take longer than all else that is done with it."""

    name: str
    """Absolute, as zone files quote it, without the final period."""
    type: str
    ttl: int
    data: Any
    """Of A and AAAA the address, of others dnspython's rdata."""
    line: int | None = None

    @classmethod
    def of(cls, name: Any, ttl: int, rdata: Any, line: int | None = None) -> "Source":
        """From what dnspython has read."""
        kind = dns.rdatatype.to_text(rdata.rdtype)
        data = rdata.address if kind in ("A", "AAAA") else rdata
        return cls(name.to_text(omit_final_dot=True), kind, ttl, data, line)


MAX_REFUSALS: Final = 20
"""How many refused records are told of."""

MADE_BY_SIGNING: Final = frozenset(
    ("RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDS", "CDNSKEY", "ZONEMD")
)


@dataclass(slots=True)
class Parsed:
    """What was found of a zone."""

    records: list[Placed] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    soa: dns.rdata.Rdata | None = None


_MARK: Final = "\ufeff"
"""Some editors begin a file with it."""


class TooManyError(Exception):
    """More records than are looked at."""


def parse_zone_file(text: str, conversion: "Conversion") -> Parsed:
    """The records of a zone file; slow, for a thread."""
    tokenizer = _Tokenizer(text.removeprefix(_MARK))
    try:
        conversion.add(_read(tokenizer, conversion.zone))
    except TooManyError:
        return Parsed(refusals=[rules.FULL])
    except dns.exception.DNSException as error:
        reason = str(error).partition(": ")[2] or str(error)
        return Parsed(refusals=[f"line {tokenizer.line}: {reason}"])
    return conversion.end()


class _Tokenizer(dns.tokenizer.Tokenizer):
    """Remembers the line where the record began that is being read."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "line")
        self.line = 1

    def get(self, want_leading: bool = False, want_comment: bool = False) -> dns.tokenizer.Token:
        # Only the reader's look for the next record wants both.
        if want_leading and want_comment:
            self.line = self.where()[1]
        return super().get(want_leading, want_comment)


def _read(tokenizer: _Tokenizer, zone: str) -> Iterable[Source]:
    origin = dns.name.from_text(zone)
    sink = _Sink(dns.zonefile.RRSetsReaderManager(origin, relativize=False), tokenizer)
    reader = dns.zonefile.Reader(
        tokenizer, dns.rdataclass.IN, sink, allow_directives=("ORIGIN", "TTL")
    )
    # Names outside the zone are to be refused, not passed over.
    reader.zone_origin = dns.name.root
    # Without $TTL the one that was said last counts (RFC 1035, 5.1), or else the domain's.
    reader.default_ttl, reader.default_ttl_known = rules.DEFAULT_TTL, True
    reader.default_ttl_from_soa = True
    reader.read()
    return sink.found


class _Sink(dns.zonefile.RRsetsReaderTransaction):
    """Takes the records of a zone file one by one, with their lines."""

    def __init__(self, manager: dns.zonefile.RRSetsReaderManager, tokenizer: _Tokenizer) -> None:
        super().__init__(manager, True, False)  # type: ignore[no-untyped-call]
        self.found: list[Source] = []
        self._tokenizer = tokenizer

    def add(self, *args: Any) -> None:
        name, ttl, rdata = args
        if len(self.found) > MAX_FOUND:
            raise TooManyError
        self.found.append(Source.of(name, ttl, rdata, self._tokenizer.line))


class Conversion:
    """Makes rows of what is found of a zone, piece by piece.

    The deployment's own name servers are those of every zone. What is refused in any case is
    looked at no further.
    """

    def __init__(self, zone: str, dns_: Dns) -> None:
        self.zone = zone
        self._own = {f"{name}.".lower() for name in dns_.nameservers}
        self._underscored = dns_.engine.underscored_hosts
        self._parsed = Parsed()
        self._told: list[Source] = []
        self._known: dict[tuple[str, str, str], int] = {}
        """Positions by name, type and content."""
        self._size = 0

    def add(self, sources: Iterable[Source]) -> None:
        for source in sources:
            if len(self._parsed.refusals) < MAX_REFUSALS and self._overflow() is None:
                self._take(source)

    def end(self) -> Parsed:
        """All of it; nothing may be added any more."""
        parsed, overflow = self._parsed, self._overflow()
        if overflow is not None:
            parsed.refusals.append(overflow)
        else:
            for position, reason in conflicts(parsed.records, self.zone):
                parsed.refusals.append(_words(self._told[position], reason))
        parsed.refusals = parsed.refusals[:MAX_REFUSALS]
        return parsed

    def _overflow(self) -> str | None:
        if len(self._parsed.records) > MAX_RECORDS:
            return rules.FULL
        return rules.TOO_LARGE if self._size > rules.MAX_BYTES else None

    def _take(self, source: Source) -> None:
        parsed = self._parsed
        if source.type in MADE_BY_SIGNING:
            return
        if source.type == "SOA" and source.name.lower() == self.zone:
            parsed.soa = parsed.soa or source.data
            return
        try:
            placed = _placed(source, self.zone)
            if placed.type == "SRV" and "_" in placed.target and not self._underscored:
                raise _Refused(f"target: {HOST_REASON}")
        except _Refused as refusal:
            parsed.refusals.append(_words(source, str(refusal)))
            return
        if not (placed.type == "NS" and placed.owner == "" and placed.content in self._own):
            self._keep(placed, source)

    def _keep(self, placed: Placed, source: Source) -> None:
        """One that is there already is the same record, with the shorter TTL (RFC 2181, 5)."""
        records, key = self._parsed.records, (placed.owner, placed.type, placed.content)
        position = self._known.setdefault(key, len(records))
        if position < len(records):
            shorter = min(records[position].ttl_sec, placed.ttl_sec)
            records[position] = replace(records[position], ttl_sec=shorter)
            return
        records.append(placed)
        self._told.append(source)
        self._size += placed.size


class _Refused(Exception):  # noqa: N818 - what was found out, not a mishap
    pass


def _placed(source: Source, zone: str) -> Placed:
    name = _below(source.name, zone)
    make = _DRAFTS.get(source.type)
    if make is None:
        raise _Refused("records of this type are not kept")
    draft = make(name, source.data, rules.round_nearest(max(1, source.ttl)))
    _check(draft)
    try:
        placed = place(draft, zone)
    except ApiError as error:
        problem = error.problems[0]
        raise _Refused(f"{problem.field}: {problem.reason}") from None
    return placed


def _below(name: str, zone: str) -> str:
    """Without the zone's name."""
    folded = name.lower()
    if folded == zone:
        return ""
    if not folded.endswith(f".{zone}"):
        raise _Refused("it lies outside the domain")
    return name[: -len(zone) - 1]


_NEEDED = ("name", "tag", "target", "service", "protocol")
"""Numbers of a record that was read are there, and no other type's."""


def _check(draft: Draft) -> None:
    if len(draft.name) > 100:
        raise _Refused("name: Length must be 1-100 characters")
    if (draft.priority or 0) > 255:
        raise _Refused("priority: Must be 0-255")
    # What was read as an address is one.
    fields = ("name",) if draft.type == "A" else _NEEDED
    for field_name in fields:
        try:
            CHECKS[field_name](draft)
        except PydanticCustomError as error:
            raise _Refused(f"{field_name}: {error.message()}") from None


def _words(source: Source, reason: str) -> str:
    line = "" if source.line is None else f"line {source.line}: "
    return f"{line}{source.name}. {source.type}: {reason}"


def _bare(name: dns.name.Name) -> str:
    return name.to_text(omit_final_dot=True)


def _ipv4(name: str, address: str, ttl: int) -> Draft:
    return Draft("A", name, target=address, ttl_sec=ttl)


def _ipv6(name: str, address: str, ttl: int) -> Draft:
    return Draft("AAAA", name, target=address, ttl_sec=ttl)


def _target(name: str, rdata: Any, ttl: int) -> Draft:
    kinds: Mapping[Any, Any] = {2: "NS", 5: "CNAME", 12: "PTR"}
    if rdata.rdtype == dns.rdatatype.CNAME and not name:
        raise _Refused(f"name: {APEX_REASON}")
    return Draft(kinds[int(rdata.rdtype)], name, target=_bare(rdata.target), ttl_sec=ttl)


def _mx(name: str, rdata: Any, ttl: int) -> Draft:
    target = "" if rdata.exchange == dns.name.root else _bare(rdata.exchange)
    return Draft("MX", name, target=target, priority=rdata.preference, ttl_sec=ttl)


def _txt(name: str, rdata: Any, ttl: int) -> Draft:
    try:
        text = b"".join(rdata.strings).decode()
    except UnicodeDecodeError:
        raise _Refused("target: Must be Unicode text") from None
    if "\0" in text:
        raise _Refused("target: Must not contain NUL characters")
    # What looks like a quoted text would otherwise come to mean what it quotes.
    target = text if unquoted(text) is None else quoted(text.encode())
    return Draft("TXT", name, target=target, ttl_sec=ttl)


def _srv(name: str, rdata: Any, ttl: int) -> Draft:
    service, protocol = _service(name)
    return Draft(
        "SRV",
        name,
        # Without its period a single label would be one of the zone.
        target=_bare(rdata.target) if len(rdata.target) > 2 else rdata.target.to_text(),
        priority=rdata.priority,
        weight=rdata.weight,
        port=rdata.port,
        service=service,
        protocol=protocol,
        ttl_sec=ttl,
    )


def _service(name: str) -> tuple[str | None, str | None]:
    """The first two labels where they begin with underscores (RFC 2782)."""
    labels = name.split(".", 2)[:2]
    if len(labels) == 2 and all(label.startswith("_") and is_service(label) for label in labels):
        return labels[0], labels[1]
    return None, None


def _caa(name: str, rdata: Any, ttl: int) -> Draft:
    tag = _TAGS.get(rdata.tag)
    if tag is None:
        raise _Refused("tag: Must be one of issue, issuewild, iodef")
    if rdata.flags not in (0, CRITICAL):
        raise _Refused(f"flags: Must be 0 or {CRITICAL}")
    target, critical = rdata.value.decode(errors="replace"), rdata.flags == CRITICAL
    return Draft("CAA", name, tag=tag, target=target, ttl_sec=ttl, critical=critical)


_TAGS: Mapping[bytes, CaaTag] = {b"issue": "issue", b"issuewild": "issuewild", b"iodef": "iodef"}

_DRAFTS: Mapping[str, Callable[[str, Any, int], Draft]] = {
    "A": _ipv4,
    "AAAA": _ipv6,
    "NS": _target,
    "MX": _mx,
    "CNAME": _target,
    "TXT": _txt,
    "SRV": _srv,
    "PTR": _target,
    "CAA": _caa,
}
