"""What records of one name demand of each other."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from roost.resources.domains.drafts import Placed
from roost.resources.domains.records import RecordType

CNAME_REASON = "A CNAME record must be the only record of its name"
NULL_MX_REASON = "An MX record without a target must be the only MX record of its name"
TWIN_REASON = "The domain has this record already"
SIZE_REASON = "The records of this name and type would not fit an answer of DNS"

_FULL: Final = 65_000
"""Bytes of an answer's records: a DNS message has 65,535 at most."""
_HEAD: Final = 14
"""Bytes of a record beside its data, where its name was said before; names in data are a little
longer than their text."""
_NULL_MX: Final = "0 ."
_SIZES: Mapping[RecordType, int] = {"A": 4, "AAAA": 16}


class Record(Protocol):
    """What is known of records that are there already."""

    @property
    def type(self) -> RecordType: ...

    @property
    def content(self) -> str: ...


def conflict(new: Record, others: Iterable[Record]) -> str | None:
    """Why a record cannot be beside the others of its name, or None."""
    others = list(others)
    if any("CNAME" in (new.type, other.type) for other in others):
        return CNAME_REASON
    same = [other.content for other in others if other.type == new.type]
    if new.content in same:
        return TWIN_REASON
    if new.type == "MX" and same and _NULL_MX in (new.content, *same):
        return NULL_MX_REASON
    if sum(_size(new.type, content) for content in (new.content, *same)) > _FULL:
        return SIZE_REASON
    return None


def conflicts(records: Iterable[Placed]) -> Iterator[tuple[int, str]]:
    """The positions of those that cannot be beside the ones before them."""
    by_name: defaultdict[str, list[Placed]] = defaultdict(list)
    sizes: defaultdict[tuple[str, RecordType], int] = defaultdict(int)
    for position, record in enumerate(records):
        others, key = by_name[record.owner], (record.owner, record.type)
        sizes[key] += _size(record.type, record.content)
        if not others:
            others.append(record)
            continue
        # A name with thousands of records is not compared with all of them again and again.
        crowded = len(others) > 100
        reason = SIZE_REASON if sizes[key] > _FULL else None
        if reason is None and (not crowded or record.type in ("CNAME", "MX")):
            reason = conflict(record, others)
        if reason is None:
            others.append(record)
        else:
            yield position, reason


def _size(kind: RecordType, content: str) -> int:
    return _HEAD + _SIZES.get(kind, len(content))
