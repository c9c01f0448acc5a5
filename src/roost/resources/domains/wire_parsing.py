"""Reading the records of one DNS message (RFC 1035, 4.1), for transfers of thousands of them.

dnspython makes objects of all that it reads, which takes several times as long.
"""

import struct
from collections.abc import Iterator, Mapping
from socket import AF_INET, AF_INET6, AddressFamily, inet_ntop
from typing import get_args

import dns.exception
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype

from roost.resources.domains.parsing import Source
from roost.resources.domains.records import RecordType

_HEADER = struct.Struct("!HHHHHH")
_RECORD = struct.Struct("!HHIH")
_QUESTION_BYTES = 4
_POINTER = 0xC0
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_*")
_FAMILIES: Mapping[int, AddressFamily] = {dns.rdatatype.A: AF_INET, dns.rdatatype.AAAA: AF_INET6}
_READ: frozenset[int] = frozenset(map(dns.rdatatype.from_text, (*get_args(RecordType), "SOA")))
_NAMES_AT: Mapping[int, int] = {
    dns.rdatatype.NS: 0,
    dns.rdatatype.CNAME: 0,
    dns.rdatatype.PTR: 0,
    dns.rdatatype.MX: 2,
    dns.rdatatype.SRV: 6,
    dns.rdatatype.SOA: 0,
}
"""Where names begin in the data of types that have them."""
_POINTERS = 128
"""In one name, which has no more labels (RFC 1035, 3.1)."""
_LABEL, _NAME = 63, 255
_LONGEST = _NAME * len("\\000")
"""Characters of a name whose bytes are all quoted."""


class Message:
    """An answer. Every method raises DNSException for what is no valid message."""

    def __init__(self, wire: bytes) -> None:
        if len(wire) < _HEADER.size:
            raise dns.exception.FormError
        self._wire = wire
        self._names: dict[int, tuple[str, int]] = {}
        self.id, flags, self._questions, self.answers, _, _ = _HEADER.unpack_from(wire)
        self.is_answer, self.code = bool(flags & 0x8000), flags & 0xF

    def sources(self) -> Iterator[Source]:
        """The records of the answer section."""
        try:
            at = _HEADER.size
            for _ in range(self._questions):
                at = self._name(at)[1] + _QUESTION_BYTES
            for _ in range(self.answers):
                source, at = self._source(at)
                yield source
        except (IndexError, struct.error) as error:
            raise dns.exception.FormError from error

    def _source(self, at: int) -> tuple[Source, int]:
        """One record, and where the next one begins."""
        name, at = self._name(at)
        kind, rdclass, ttl, size = _RECORD.unpack_from(self._wire, at)
        at += _RECORD.size
        end = at + size
        if rdclass != dns.rdataclass.IN or end > len(self._wire):
            raise dns.exception.FormError
        return Source(name, dns.rdatatype.to_text(kind), ttl, self._data(kind, at, size)), end

    def _data(self, kind: int, at: int, size: int) -> object:
        """What is of use of a record's data; None of types that are not kept."""
        if kind not in _READ:
            return None
        family = _FAMILIES.get(kind)
        if family is not None:
            return _address(family, self._wire[at : at + size])
        if kind in _NAMES_AT:
            self._check_names(kind, at + _NAMES_AT[kind])
        rdtype = dns.rdatatype.RdataType.make(kind)
        return dns.rdata.from_wire(dns.rdataclass.IN, rdtype, self._wire, at, size)

    def _check_names(self, kind: int, at: int) -> None:
        """dnspython follows as many pointers as there are, again and again."""
        _, at = self._name(at)
        if kind == dns.rdatatype.SOA:
            self._name(at)

    def _name(self, at: int) -> tuple[str, int]:
        """A name without the final period, and where it ends."""
        name, _, end = self._labels(at, 0)
        return name, end

    def _labels(self, at: int, depth: int) -> tuple[str, int, int]:
        """A name, how many pointers it has, and where it ends, at `depth` pointers."""
        labels, pointers, start = [], 0, at
        while length := self._wire[at]:
            if length >= _POINTER:
                rest, pointers = self._pointed((length & 0x3F) << 8 | self._wire[at + 1], at, depth)
                labels.append(rest)
                at += 1
                break
            if length > _LABEL or at - start > _NAME:
                raise dns.exception.FormError
            label, at = self._wire[at + 1 : at + 1 + length], at + 1 + length
            labels.append(label.decode() if _PLAIN.issuperset(label) else _escaped(label))
        name = ".".join(filter(None, labels))
        if len(name) > _LONGEST:
            raise dns.exception.FormError
        return name, pointers, at + 1

    def _pointed(self, at: int, before: int, depth: int) -> tuple[str, int]:
        """What many names of a message have in common is read once."""
        if at >= before:
            raise dns.name.BadPointer
        known = self._names.get(at)
        if known is None:
            if depth >= _POINTERS:
                raise dns.name.BadPointer
            name, pointers, _ = self._labels(at, depth + 1)
            known = self._names[at] = name, pointers + 1
        if known[1] > _POINTERS:
            raise dns.name.BadPointer
        return known


def _address(family: int, packed: bytes) -> str:
    try:
        return inet_ntop(family, packed)
    except ValueError:
        raise dns.exception.FormError from None


def _escaped(label: bytes) -> str:
    return dns.name.Name((label,)).to_text()
