"""A checked record in its zone: its name there, what DNS answers, and what stands beside it."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import IPv6Address
from typing import Final, Protocol

from pydantic_core import PydanticCustomError

from roost.errors import Problem, invalid_fields
from roost.resources.domains import name_rules
from roost.resources.domains.record_rules import APEX_REASON, CHECKS, CRITICAL, Draft, Placed
from roost.resources.domains.records import RecordType

_PIECE = 255
"""Bytes of one string of a TXT record (RFC 1035, 3.3.14)."""

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(?="|\Z)', re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-9]{3}|.)", re.DOTALL)
_SPECIAL = re.compile(r'[^ -~]|["\\]')


def check_all(draft: Draft) -> None:
    """Raises ApiError 400 with every problem of the fields."""
    problems = [
        Problem(error.message(), field)
        for field, check in CHECKS.items()
        if (error := _refusal(check, draft)) is not None
    ]
    if problems:
        raise invalid_fields(problems)


def _refusal(check: Callable[[Draft], None], draft: Draft) -> PydanticCustomError | None:
    try:
        check(draft)
    except PydanticCustomError as error:
        return error
    return None


def place(draft: Draft, zone: str) -> Placed:
    """The row of a draft that has passed all checks; ApiError 400 when it is not the zone's."""
    service, protocol = _underscored(draft.service), _underscored(draft.protocol)
    target = _target(draft, zone)
    try:
        name = name_rules.relative(_full_name(draft, service, protocol), zone)
    except PydanticCustomError as error:
        raise invalid_fields([Problem(error.message(), "name")]) from None
    if draft.type == "CNAME" and not name:
        raise invalid_fields([Problem(APEX_REASON, "name")])
    return Placed(
        type=draft.type,
        name=name,
        target=target,
        priority=draft.priority or 0,
        weight=draft.weight or 0,
        port=draft.port or 0,
        service=service,
        protocol=protocol,
        tag=draft.tag or None,
        ttl_sec=draft.ttl_sec,
        owner=name.lower(),
        content=content(draft, target),
    )


def content(draft: Draft, target: str) -> str:
    """Presentation format."""
    return _CONTENTS[draft.type](draft, target)


def _underscored(label: str | None) -> str | None:
    return f"_{label.removeprefix('_')}" if label else None


def _full_name(draft: Draft, service: str | None, protocol: str | None) -> str:
    """SRV: made of service and protocol, where both are there, and of what followed them before
    (RFC 2782)."""
    if draft.type != "SRV" or service is None or protocol is None:
        return draft.name
    prefix = f"{service}.{protocol}"
    parts = draft.name.split(".", 2)
    is_below = len(parts) == 3 and parts[0].startswith("_") and parts[1].startswith("_")
    return f"{prefix}.{parts[2]}" if is_below else prefix


def _target(draft: Draft, zone: str) -> str:
    target = draft.target or ""
    bare = draft.type == "SRV" and target != "." and "." not in target
    return f"{target}.{zone}" if bare else target


def _absolute(name: str) -> str:
    return f"{name.removesuffix('.').lower()}."


def unquoted(target: str) -> list[bytes] | None:
    """The strings of a text that is written as zone files have it, such as `"one" "two"`; None
    for one that is not, and means itself."""
    strings, at, bare = [], 0, target.strip()
    while at < len(bare):
        match = _QUOTED.match(bare, at)
        if match is None:
            return None
        strings.append(match[1].encode())
        at = match.end()
    try:
        return [_ESCAPE.sub(_character, string) for string in strings] or None
    except ValueError:
        return None


def _character(escape: re.Match[bytes]) -> bytes:
    """ValueError for a number that is no byte's."""
    return bytes([int(escape[1])]) if escape[1].isdigit() else escape[1]


def text(target: str) -> str:
    """The content of a TXT record, as strings of at most 255 bytes each."""
    strings = unquoted(target)
    return " ".join(map(_split, [target.encode()] if strings is None else strings))


def _split(string: bytes) -> str:
    pieces = [string[at : at + _PIECE] for at in range(0, len(string), _PIECE)]
    return " ".join(map(quoted, pieces or [b""]))


def quoted(string: bytes) -> str:
    """As one string of a zone file."""
    return f'"{_SPECIAL.sub(_escaped, string.decode("latin-1"))}"'


def _escaped(special: re.Match[str]) -> str:
    character = special[0]
    return f"\\{character}" if character in '"\\' else f"\\{ord(character):03d}"


_CONTENTS: Mapping[RecordType, Callable[[Draft, str], str]] = {
    "A": lambda draft, target: target,
    "AAAA": lambda draft, target: IPv6Address(target).compressed,
    "NS": lambda draft, target: _absolute(target),
    "MX": lambda draft, target: f"{draft.priority or 0} {_absolute(target)}",
    "CNAME": lambda draft, target: _absolute(target),
    "TXT": lambda draft, target: text(target),
    "SRV": lambda draft, target: (
        f"{draft.priority} {draft.weight} {draft.port} {_absolute(target)}"
    ),
    "PTR": lambda draft, target: _absolute(target),
    "CAA": lambda draft, target: (
        f"{CRITICAL if draft.critical else 0} {draft.tag} {quoted(target.encode())}"
    ),
}

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
