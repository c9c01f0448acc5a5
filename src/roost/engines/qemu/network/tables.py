"""Firewalls in the kernel: written in two transactions, and read back.

All functions are called in the namespace, by one process at a time.
"""

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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
from roost.engines.qemu.network.rules import FORWARD, RANGE_MASKS
from roost.resources.firewalls.engine import FirewallSpec

_KINDS: tuple[tuple[Family, str], ...] = (
    (4, ""),
    (6, ""),
    *((6, f"/{length}") for length in RANGE_MASKS),
)
"""Of what firewalls filter: the family, and how the text of a range ends."""
_DIRECTIONS: tuple[Direction, ...] = ("in", "out")


def _map(direction: Direction, family: Family, ending: str) -> str:
    return f"{direction}{family}{ending.replace('/', '_')}"


_MAPS = {_map(direction, *kind): (direction, *kind) for kind in _KINDS for direction in _DIRECTIONS}


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
        _check_table(kernel)
        former = [name for name in _set_names(kernel) if _owner(name) == firewall.id]
        kernel.commit(wanted.sets)
        changes = [*_chains(wanted.chains), *_moves(kernel, firewall)]
        kernel.commit([*changes, *(_delete_set(name) for name in former)])
        return _read(kernel, firewall.id).digest


def erase(firewall_id: int) -> None:
    """Take a firewall out, wherever it is; nothing happens when there is nothing of it."""
    with Netlink() as kernel:
        chains = [name for name in _chain_names(kernel) if _owner(name) == firewall_id]
        sets = [name for name in _set_names(kernel) if _owner(name) == firewall_id]
        changes = list[Message]()
        for name in _MAPS:
            for address, chain in _elements(kernel, name).items():
                if _owner(chain) == firewall_id:
                    changes.append(_element(DELSETELEM, name, address))
        changes += [Message(DELRULE, _named(name)) for name in chains]
        changes += [Message(DELCHAIN, text(1, TABLE) + text(3, name)) for name in chains]
        kernel.commit([*changes, *map(_delete_set, sets)])


def read(firewall_id: int) -> Held | None:
    """What the kernel has of one; None when it has nothing."""
    with Netlink() as kernel:
        _check_table(kernel)
        held = _read(kernel, firewall_id)
        for owner, address in _addresses(kernel):
            if owner == firewall_id:
                held.addresses.add(address)
        return held if held.contents or held.addresses else None


def read_all() -> dict[int, Held]:
    """The same of all, by firewall. NoTableError when a part of what they rest on is gone."""
    with Netlink() as kernel:
        _check_table(kernel)
        found, rules = defaultdict[int, Held](Held), _rules(kernel)
        for name in _chain_names(kernel):
            if (owner := _owner(name)) is not None:
                found[owner].contents.append(_contents(name, rules[name]))
        for name in _set_names(kernel):
            if (owner := _owner(name)) is not None:
                found[owner].contents.append(_contents(name, _elements_of(kernel, name)))
        for owner, address in _addresses(kernel):
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


def _check_table(kernel: Netlink) -> None:
    try:
        rules = _rules(kernel, "forward")["forward"]
    except FileNotFoundError:
        raise NoTableError from None
    if len(rules) != len(FORWARD):
        raise NoTableError


def _owner(name: str) -> int | None:
    """Of a chain `fw7_in4` or a set `7.1a2b_0`."""
    head = name.removeprefix("fw").partition("_")[0] if name[:2] == "fw" else name.partition(".")[0]
    return int(head) if head.isdecimal() else None


def _chains(wanted: Mapping[str, list[bytes]]) -> Iterator[Message]:
    for name, rules in wanted.items():
        yield Message(NEWCHAIN, text(1, TABLE) + text(3, name), CREATE)
        yield Message(DELRULE, _named(name))
        for rule in rules:
            yield Message(NEWRULE, _named(name) + nested(4, rule), CREATE | APPEND)


def _moves(kernel: Netlink, firewall: FirewallSpec) -> Iterator[Message]:
    """The addresses that come and go; one that another firewall had moves."""
    for name, (direction, family, ending) in _MAPS.items():
        chain = chain_name(firewall.id, direction, family)
        wanted = {each for each in firewall.addresses if _is_of(each, family, ending)}
        held = _elements(kernel, name)
        for address, owner in held.items():
            if (owner == chain) != (address in wanted):
                yield _element(DELSETELEM, name, address)
        for address in sorted(wanted):
            if held.get(address) != chain:
                yield _element(NEWSETELEM, name, address, chain)


def _is_of(address: str, family: Family, ending: str) -> bool:
    first, slash, length = address.partition("/")
    return (":" in first) == (family == 6) and slash + length == ending


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


def _elements(kernel: Netlink, name: str) -> dict[str, str]:
    """Addresses or ranges of a map, and the chains that they lead to."""
    found, ending = dict[str, str](), _MAPS[name][2]
    for message in kernel.dump(GETSETELEM, _named(name)):
        for part in _parts(message):
            for _, payload in attributes(part):
                element = named(payload)
                verdict = named(named(element[2])[2])
                found[unpacked(named(element[1])[1]) + ending] = read_text(verdict[2])
    return found


def _addresses(kernel: Netlink) -> Iterator[tuple[int, str]]:
    """Those that lead to a firewall in both directions."""
    for kind in _KINDS:
        out = _elements(kernel, _map("out", *kind))
        for address, chain in _elements(kernel, _map("in", *kind)).items():
            owner = _owner(chain)
            if owner is not None and _owner(out.get(address, "")) == owner:
                yield owner, address
