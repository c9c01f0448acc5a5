"""What records of one name demand of each other."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from roost.resources.domains.drafts import Placed
from roost.resources.domains.records import RecordType

CNAME_REASON = "A CNAME record must be the only record of its name"
NULL_MX_REASON = "An MX record without a target must be the only MX record of its name"
TWIN_REASON = "The domain has this record already"
SIZE_REASON = "The records of this name and type would not fit an answer of DNS"

_MESSAGE: Final = 65_535
_AROUND: Final = 12 + 11 + 4
"""Bytes of a message beside names and records: header, EDNS, type and class of the question."""
_HEAD: Final = 12
"""Bytes of a record beside its data, where its name was said before."""
_SIGNATURE: Final = _HEAD + 18 + 64
"""Bytes of what signs the records, beside the signer's name: kept free, as any zone may come to
be signed (RFC 4034, 3.1; RFC 6605)."""
_LONGEST: Final = 255
"""Bytes of a name, such as a wildcard may be asked for."""
_NULL_MX: Final = "0 ."
_SIZES: Mapping[RecordType, int] = {"A": 4, "AAAA": 16}
_ESCAPED = re.compile(r"\\(?:[0-9]{3}|.)")


class Record(Protocol):
    """What is known of records that are there already."""

    @property
    def type(self) -> RecordType: ...

    @property
    def content(self) -> str: ...


class _Name:
    """The records of one name so far."""

    def __init__(self, room: int) -> None:
        """`room`: bytes of the records of one type, all together."""
        self._room = room
        self._contents: dict[RecordType, set[str]] = {}
        self._sizes: defaultdict[RecordType, int] = defaultdict(int)

    def add(self, record: Record) -> None:
        self._contents.setdefault(record.type, set()).add(record.content)
        self._sizes[record.type] += _size(record)

    def conflict(self, new: Record) -> str | None:
        """Why a record cannot be beside these."""
        if self._contents and ("CNAME" in self._contents or new.type == "CNAME"):
            return CNAME_REASON
        same = self._contents.get(new.type, set())
        if new.content in same:
            return TWIN_REASON
        if new.type == "MX" and same and (new.content == _NULL_MX or _NULL_MX in same):
            return NULL_MX_REASON
        if self._sizes[new.type] + _size(new) > self._room:
            return SIZE_REASON
        return None


def conflict(new: Placed, others: Iterable[Record], zone: str) -> str | None:
    """Why a record cannot be beside the others of its name, or None."""
    name = _Name(_room(new.owner, zone))
    for other in others:
        name.add(other)
    return name.conflict(new)


def conflicts(records: Iterable[Placed], zone: str) -> Iterator[tuple[int, str]]:
    """The positions of those that cannot be beside the ones before them."""
    names: dict[str, _Name] = {}
    for position, record in enumerate(records):
        name = names.get(record.owner)
        if name is None:
            name = names[record.owner] = _Name(_room(record.owner, zone))
        reason = name.conflict(record)
        if reason is None:
            name.add(record)
        else:
            yield position, reason


def _room(owner: str, zone: str) -> int:
    """Bytes that one answer has for the records of a name, with their signature."""
    signer = len(zone) + 2
    asked = _LONGEST if owner.startswith("*") else signer + len(owner) + bool(owner)
    return _MESSAGE - _AROUND - asked - _SIGNATURE - signer


def _size(record: Record) -> int:
    """At most so many bytes; of a text exactly these."""
    if record.type == "TXT":
        plain = _ESCAPED.sub("x", record.content)
        # Quotation marks and the blanks between strings go, each string's length comes.
        return _HEAD + len(plain) + 1 - plain.count('"')
    return _HEAD + _SIZES.get(record.type, len(record.content) + 2)
