"""Firewalls in the kernel: written in two transactions, and read back.

All functions are called in the namespace, by one process at a time.
"""

import hashlib
import re
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from roost.engines.qemu.network.compiled import (
    JUMP,
    Direction,
    Family,
    chain_name,
    chain_names,
    compiled,
    packed,
    unpacked,
)
from roost.engines.qemu.network.netlink import (
    APPEND,
    CREATE,
    DELCHAIN,
    DELRULE,
    DELSET,
    DELSETELEM,
    GETCHAIN,
    GETRULE,
    GETSET,
    GETSETELEM,
    NEWCHAIN,
    NEWRULE,
    NEWSETELEM,
    TABLE,
    Message,
    Netlink,
    attribute,
    attributes,
    named,
    nested,
    number,
    read_text,
    text,
)
from roost.resources.firewalls.engine import FirewallSpec

_MAP_NAME = re.compile(r"(in|out)([46])(?:_(\d+))?")
_WIDTHS: Mapping[Family, int] = {4: 4, 6: 16}
_KEY_AT = 8
"""Where an element has its key: it comes first, in two attributes."""
_NEEDED = frozenset(("in4", "out4"))


@dataclass(frozen=True, slots=True)
class _Map:
    """Which addresses or ranges lead to which chains, in one direction."""

    name: str
    direction: Direction
    family: Family
    ending: str
    """Of the text of a range: `/64`; of an address nothing."""

    @classmethod
    def of(cls, name: str) -> "_Map | None":
        """None when the name is that of another set."""
        if (found := _MAP_NAME.fullmatch(name)) is None:
            return None
        ending = "" if found[3] is None else f"/{found[3]}"
        return cls(name, "in" if found[1] == "in" else "out", 4 if found[2] == "4" else 6, ending)

    @property
    def other(self) -> str:
        """That of the other direction."""
        way, rest = ("out", 2) if self.direction == "in" else ("in", 3)
        return way + self.name[rest:]


class NoTableError(Exception):
    """What firewalls rest on is not there, wholly or in part."""


@dataclass(slots=True)
class Held:
    """What the kernel has of a firewall."""

    addresses: set[str] = field(default_factory=set)
    contents: list[bytes] = field(default_factory=list)
    """Of its chains and sets, in order."""

    @property
    def digest(self) -> str:
        """Another one whenever somebody has changed a rule or a set."""
        return hashlib.sha256(b"\0".join(sorted(self.contents))).hexdigest()


def write(firewall: FirewallSpec) -> str:
    """Put a firewall in force; returns the digest of what the kernel has of it then.

    NoTableError, or OSError when the kernel refuses.
    """
    version = secrets.token_hex(4)
    wanted = compiled(firewall.id, firewall.rules, version)
    with Netlink() as kernel:
        maps = _check_table(kernel)
        if not all(_place(each, maps) for each in firewall.addresses):
            raise NoTableError
        former = [name for name in _set_names(kernel) if _owner(name) == firewall.id]
        kernel.commit(wanted.sets)
        changes = [*_chains(wanted.chains), *_moves(kernel, maps, firewall)]
        kernel.commit([*changes, *(_delete_set(name) for name in former)])
        return _read(kernel, firewall.id).digest


def erase(firewall_id: int) -> None:
    """Take a firewall out, wherever it is; nothing happens when there is nothing of it."""
    with Netlink() as kernel:
        chains = [name for name in _chain_names(kernel) if _owner(name) == firewall_id]
        sets = [name for name in _set_names(kernel) if _owner(name) == firewall_id]
        changes = list[Message]()
        for each in _maps(kernel):
            for address, chain in _elements(kernel, each).items():
                if _owner(chain) == firewall_id:
                    changes.append(_element(DELSETELEM, each.name, address))
        changes += [Message(DELRULE, _named(name)) for name in chains]
        changes += [Message(DELCHAIN, text(1, TABLE) + text(3, name)) for name in chains]
        kernel.commit([*changes, *map(_delete_set, sets)])


def read(firewall_id: int) -> Held | None:
    """What the kernel has of a firewall; None when it has nothing."""
    with Netlink() as kernel:
        maps = _check_table(kernel)
        held = _read(kernel, firewall_id)
        for owner, address in _addresses(kernel, maps):
            if owner == firewall_id:
                held.addresses.add(address)
        return held if held.contents or held.addresses else None


def read_all() -> dict[int, Held]:
    """What the kernel has of all firewalls, by id.

    NoTableError when a part that they need is gone.
    """
    with Netlink() as kernel:
        maps = _check_table(kernel)
        found, rules = defaultdict[int, Held](Held), _rules(kernel)
        for name in _chain_names(kernel):
            if (owner := _owner(name)) is not None:
                found[owner].contents.append(_contents(name, rules[name]))
        for name in _set_names(kernel):
            if (owner := _owner(name)) is not None:
                found[owner].contents.append(_contents(name, _elements_of(kernel, name)))
        for owner, address in _addresses(kernel, maps):
            found[owner].addresses.add(address)
        return dict(found)


def _read(kernel: Netlink, firewall_id: int) -> Held:
    """But its addresses."""
    held = Held()
    for name in chain_names(firewall_id):
        if rules := _rules(kernel, name)[name]:
            held.contents.append(_contents(name, rules))
    for name in _set_names(kernel):
        if _owner(name) == firewall_id:
            held.contents.append(_contents(name, _elements_of(kernel, name)))
    return held


def _contents(name: str, parts: Iterable[bytes]) -> bytes:
    return name.encode() + b"".join(parts)


def lengths() -> frozenset[int]:
    """The prefix lengths of IPv4 that the table has maps for; none without a table."""
    with Netlink() as kernel:
        try:
            maps = _maps(kernel)
        except FileNotFoundError:
            return frozenset()
    return frozenset(int(each.ending[1:]) for each in maps if each.family == 4 and each.ending)


def _check_table(kernel: Netlink) -> list[_Map]:
    """Its maps, each of which has a rule; one more lets answers by ICMP pass."""
    try:
        maps, rules = _maps(kernel), _rules(kernel, "forward")["forward"]
    except FileNotFoundError:
        raise NoTableError from None
    if not _NEEDED.issubset(each.name for each in maps) or len(rules) != len(maps) + 1:
        raise NoTableError
    return maps


def _maps(kernel: Netlink) -> list[_Map]:
    found = map(_Map.of, _set_names(kernel))
    return [each for each in found if each is not None]


def _place(address: str, maps: Iterable[_Map]) -> bool:
    """Whether there is a map for it."""
    return any(_is_of(address, each) for each in maps)


def _owner(name: str) -> int | None:
    """The firewall that a chain `fw7_in4` or a set `7.1a2b_0` belongs to."""
    head = name.removeprefix("fw").partition("_")[0] if name[:2] == "fw" else name.partition(".")[0]
    return int(head) if head.isdecimal() else None


def _chains(wanted: Mapping[str, list[bytes]]) -> Iterator[Message]:
    for name, rules in wanted.items():
        yield Message(NEWCHAIN, text(1, TABLE) + text(3, name), CREATE)
        yield Message(DELRULE, _named(name))
        for rule in rules:
            yield Message(NEWRULE, _named(name) + nested(4, rule), CREATE | APPEND)


def _moves(kernel: Netlink, maps: Iterable[_Map], firewall: FirewallSpec) -> Iterator[Message]:
    """The addresses that come and go; one that another firewall had moves."""
    for each in maps:
        chain = chain_name(firewall.id, each.direction, each.family)
        wanted = {address for address in firewall.addresses if _is_of(address, each)}
        held = _elements(kernel, each, chain, wanted)
        for address, owner in held.items():
            if (owner == chain) != (address in wanted):
                yield _element(DELSETELEM, each.name, address)
        for address in sorted(wanted):
            if held.get(address) != chain:
                yield _element(NEWSETELEM, each.name, address, chain)


def _is_of(address: str, kind: _Map) -> bool:
    first, slash, length = address.partition("/")
    return (":" in first) == (kind.family == 6) and slash + length == kind.ending


def _element(kind: int, name: str, address: str, chain: str | None = None) -> Message:
    data = nested(1, attribute(1, packed(address.partition("/")[0])))
    if chain is not None:
        data += nested(2, nested(2, number(1, JUMP) + text(2, chain)))
    payload = text(1, TABLE) + text(2, name) + nested(3, nested(1, data))
    return Message(kind, payload, CREATE if kind == NEWSETELEM else 0)


def _named(name: str) -> bytes:
    """A set, or the chain of rules."""
    return text(1, TABLE) + text(2, name)


def _delete_set(name: str) -> Message:
    return Message(DELSET, _named(name))


def _chain_names(kernel: Netlink) -> list[str]:
    return list(_names(kernel.dump(GETCHAIN, text(1, TABLE)), 3))


def _set_names(kernel: Netlink) -> list[str]:
    return list(_names(kernel.dump(GETSET, text(1, TABLE)), 2))


def _names(objects: Iterable[bytes], kind: int) -> Iterator[str]:
    for each in objects:
        found = named(each)
        if read_text(found[1]) == TABLE:
            yield read_text(found[kind])


def _rules(kernel: Netlink, chain: str | None = None) -> dict[str, list[bytes]]:
    """The expressions of rules by chain, of one or of all."""
    wanted = text(1, TABLE) + (b"" if chain is None else text(2, chain))
    found = defaultdict[str, list[bytes]](list)
    for each in kernel.dump(GETRULE, wanted):
        rule = named(each)
        if read_text(rule[1]) == TABLE:
            found[read_text(rule[2])].append(rule[4])
    return found


def _elements_of(kernel: Netlink, name: str) -> Iterator[bytes]:
    for message in kernel.dump(GETSETELEM, _named(name)):
        yield from _parts(message)


def _parts(message: bytes) -> Iterator[bytes]:
    """The elements of a set, as a dump has them."""
    return (payload for kind, payload in attributes(message) if kind == 3)


def _elements(
    kernel: Netlink, kind: _Map, chain: str | None = None, among: Collection[str] = ()
) -> dict[str, str]:
    """Addresses or ranges of a map, and the chains that they lead to; with `chain` those of this
    one, and of the addresses `among` all. The others are not decoded, which takes long."""
    found, ending = dict[str, str](), b"" if chain is None else chain.encode() + b"\0"
    keys = {packed(address.partition("/")[0]) for address in among}
    width = _WIDTHS[kind.family]
    for message in kernel.dump(GETSETELEM, _named(kind.name)):
        for part in _parts(message):
            for _, payload in attributes(part):
                if ending in payload or payload[_KEY_AT : _KEY_AT + width] in keys:
                    element = named(payload)
                    verdict = named(named(element[2])[2])
                    address = unpacked(named(element[1])[1]) + kind.ending
                    found[address] = read_text(verdict[2])
    return found


def _addresses(kernel: Netlink, maps: Iterable[_Map]) -> Iterator[tuple[int, str]]:
    """Those that lead to a firewall in both directions."""
    by_name = {each.name: each for each in maps}
    for each in by_name.values():
        if each.direction == "out" or each.other not in by_name:
            continue
        out = _elements(kernel, by_name[each.other])
        for address, chain in _elements(kernel, each).items():
            owner = _owner(chain)
            if owner is not None and _owner(out.get(address, "")) == owner:
                yield owner, address
