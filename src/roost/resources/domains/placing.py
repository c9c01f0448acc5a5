"""Putting a checked record into its zone: its name there, and the content that DNS answers."""

from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv6Address

from pydantic_core import PydanticCustomError

from roost.errors import Problem, invalid_fields
from roost.resources.domains import names
from roost.resources.domains.drafts import Draft, Placed
from roost.resources.domains.record_rules import CHECKS, NAME_REQUIRED
from roost.resources.domains.records import RecordType

_PIECE = 255
"""Bytes of one string of a TXT record (RFC 1035, 3.3.14)."""


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
        name = names.relative(_full_name(draft, service, protocol), zone)
    except PydanticCustomError as error:
        raise invalid_fields([Problem(error.message(), "name")]) from None
    if draft.type == "CNAME" and not name:
        raise invalid_fields([Problem(NAME_REQUIRED, "name")])
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
    """SRV: made of service and protocol, and of what followed them before (RFC 2782)."""
    if draft.type != "SRV":
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


def quote_text(data: bytes) -> str:
    """As strings of at most 255 bytes each."""
    pieces = (data[at : at + _PIECE] for at in range(0, len(data), _PIECE))
    return " ".join(f'"{"".join(_escaped(piece))}"' for piece in pieces)


def _escaped(piece: bytes) -> Iterator[str]:
    for byte in piece:
        if byte in b'"\\':
            yield f"\\{chr(byte)}"
        elif 0x20 <= byte < 0x7F:
            yield chr(byte)
        else:
            yield f"\\{byte:03d}"


_CONTENTS: Mapping[RecordType, Callable[[Draft, str], str]] = {
    "A": lambda draft, target: target,
    "AAAA": lambda draft, target: IPv6Address(target).compressed,
    "NS": lambda draft, target: _absolute(target),
    "MX": lambda draft, target: f"{draft.priority or 0} {_absolute(target)}",
    "CNAME": lambda draft, target: _absolute(target),
    "TXT": lambda draft, target: quote_text(target.encode()),
    "SRV": lambda draft, target: (
        f"{draft.priority} {draft.weight} {draft.port} {_absolute(target)}"
    ),
    "PTR": lambda draft, target: _absolute(target),
    "CAA": lambda draft, target: f"0 {draft.tag} {quote_text(target.encode())}",
}
