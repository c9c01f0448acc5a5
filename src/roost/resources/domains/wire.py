"""Reading the records of one DNS message (RFC 1035, 4.1), for transfers of thousands of them.

dnspython makes objects of all that it reads, which takes several times as long.
"""

import struct
from collections.abc import Iterator
from socket import AF_INET, AF_INET6, inet_ntop

import dns.exception
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype

from roost.resources.domains.sources import Source

_HEADER = struct.Struct("!HHHHHH")
_RECORD = struct.Struct("!HHIH")
_QUESTION_BYTES = 4
_POINTER = 0xC0
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_*")
_FAMILIES = {dns.rdatatype.A: AF_INET, dns.rdatatype.AAAA: AF_INET6}


class Message:
    """An answer. Every method raises DNSException for what is no valid message."""

    def __init__(self, wire: bytes) -> None:
        if len(wire) < _HEADER.size:
            raise dns.exception.FormError
        self._wire = wire
        self._names: dict[int, str] = {}
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
        family = _FAMILIES.get(kind)
        if family is None:
            data: object = dns.rdata.from_wire(rdclass, kind, self._wire, at, size)
        else:
            data = _address(family, self._wire[at:end])
        return Source(name, dns.rdatatype.to_text(kind), ttl, data), end

    def _name(self, at: int) -> tuple[str, int]:
        """A name without the final period, and where it ends."""
        labels = []
        while length := self._wire[at]:
            if length >= _POINTER:
                labels.append(self._pointed((length & 0x3F) << 8 | self._wire[at + 1]))
                return ".".join(labels), at + 2
            label, at = self._wire[at + 1 : at + 1 + length], at + 1 + length
            labels.append(label.decode() if _PLAIN.issuperset(label) else _escaped(label))
        return ".".join(labels), at + 1

    def _pointed(self, at: int) -> str:
        """What many names of a message have in common is read once."""
        if at not in self._names:
            name, _ = dns.name.from_wire(self._wire, at)
            self._names[at] = name.to_text(omit_final_dot=True)
        return self._names[at]


def _address(family: int, packed: bytes) -> str:
    try:
        return inet_ntop(family, packed)
    except ValueError:
        raise dns.exception.FormError from None


def _escaped(label: bytes) -> str:
    """One of more than 63 bytes is refused."""
    return dns.name.Name((label,)).to_text()
