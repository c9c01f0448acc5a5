"""A firewall's rules as chains, rules and sets of nftables.

Everything is matched on the connection's first packet (`ct original`), in both directions, so that
a connection lives as long as the rules would let it begin.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from socket import AF_INET, AF_INET6, inet_pton
from typing import Literal

from roost.engines.qemu.network.netlink import (
    CREATE,
    NEWSET,
    NEWSETELEM,
    TABLE,
    Message,
    attribute,
    nested,
    number,
    text,
)
from roost.resources.firewalls.engine import Action, Rule, RuleSet, TransportProtocol

Direction = Literal["in", "out"]
Family = Literal[4, 6]
Piece = tuple[int, int]
"""First and last of what matches."""

MOST_RULES = 8
"""Lists that take no more rules than this need no set, of which a table has better few."""

_DROP, JUMP, _RETURN = 0, -3, -5
_META_L4PROTO = 16
_CT_STATE, _CT_PROTO_DST = 0, 12
_CT_ADDRESS: dict[tuple[Direction, Family], int] = {
    ("in", 4): 19,
    ("out", 4): 20,
    ("in", 6): 21,
    ("out", 6): 22,
}
"""The other side of the connection: where it comes from, or goes to."""
_INVALID = 1
_REGISTER = 1
_CONSTANT, _INTERVAL, _INTERVAL_END = 2, 4, 1
_KEY_TYPES = {2: 13, 4: 7, 16: 8}
"""As `nft` shows keys of so many bytes: ports, IPv4 and IPv6 addresses."""
_NUMBERS: dict[TransportProtocol, int] = {"TCP": 6, "UDP": 17, "IPENCAP": 4, "ICMP": 1}
_ICMPV6 = 58
_WIDTHS: dict[Family, int] = {4: 4, 6: 16}
_PORT_BYTES = 2


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the kernel is to have for a firewall."""

    sets: tuple[Message, ...]
    """To be there before rules that name them: a set is empty for a moment after it is made."""
    chains: dict[str, list[bytes]]
    """The expressions of each rule, by chain."""


def chain_name(firewall_id: int, direction: Direction, family: Family) -> str:
    return f"fw{firewall_id}_{direction}{family}"


def chain_names(firewall_id: int) -> list[str]:
    return [chain_name(firewall_id, each, family) for each, family in _CT_ADDRESS]


def compiled(firewall_id: int, rules: RuleSet, version: str) -> Compiled:
    """`version` tells sets of these rules from those of others."""
    sets, chains = _Sets(f"{firewall_id}.{version}_"), dict[str, list[bytes]]()
    for direction, family in _CT_ADDRESS:
        inbound = direction == "in"
        listed = rules.inbound if inbound else rules.outbound
        policy = rules.inbound_policy if inbound else rules.outbound_policy
        chain = [_drop_invalid()]
        for rule in listed:
            chain += _compiled_rule(rule, direction, family, sets)
        chain.append(_verdict(policy))
        chains[chain_name(firewall_id, direction, family)] = chain
    return Compiled(tuple(sets.messages), chains)


def networks_of(networks: Iterable[str], family: Family) -> list[Piece]:
    """Ranges of addresses of one family, sorted, none touching the next."""
    version, bits = (AF_INET, 32) if family == 4 else (AF_INET6, 128)
    found = list[Piece]()
    for network in networks:
        address, _, mask = network.partition("/")
        if (":" in address) == (family == 6):
            host = (1 << bits - int(mask)) - 1
            first = int.from_bytes(inet_pton(version, address), "big") & ~host
            found.append((first, first | host))
    return merged(found)


def merged(pieces: Iterable[Piece]) -> list[Piece]:
    result = list[Piece]()
    for first, last in sorted(pieces):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return result


def packed(address: str) -> bytes:
    family = AF_INET6 if ":" in address else AF_INET
    return inet_pton(family, address)


def unpacked(key: bytes) -> str:
    return str(IPv4Address(key) if len(key) == _WIDTHS[4] else IPv6Address(key))


class _Sets:
    """The sets of a firewall, each made once."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._names = dict[tuple[int, tuple[Piece, ...]], str]()
        self.messages = list[Message]()

    def name(self, pieces: Sequence[Piece], width: int) -> str:
        key = (width, tuple(pieces))
        if key not in self._names:
            self._names[key] = f"{self._prefix}{len(self._names)}"
            self.messages += _set_messages(self._names[key], pieces, width, len(self._names))
        return self._names[key]


def _set_messages(
    name: str, pieces: Sequence[Piece], width: int, set_id: int
) -> tuple[Message, Message]:
    elements = list(_elements(pieces, width))
    head = text(1, TABLE) + text(2, name)
    made = head + _numbers((3, _CONSTANT | _INTERVAL), (4, _KEY_TYPES[width]), (5, width))
    made += nested(9, number(1, len(elements))) + number(10, set_id)
    filled = head + number(4, set_id) + nested(3, *elements)
    return Message(NEWSET, made, CREATE), Message(NEWSETELEM, filled, CREATE)


def _numbers(*pairs: tuple[int, int]) -> bytes:
    return b"".join(number(kind, value) for kind, value in pairs)


def _elements(pieces: Sequence[Piece], width: int) -> Iterator[bytes]:
    """Where each range begins and where it has ended; what is before the first has ended at 0."""
    if pieces[0][0] > 0:
        yield _element(0, width, _INTERVAL_END)
    for first, last in pieces:
        yield _element(first, width, 0)
        if last + 1 < 1 << 8 * width:
            yield _element(last + 1, width, _INTERVAL_END)


def _element(key: int, width: int, flags: int) -> bytes:
    value = nested(1, attribute(1, key.to_bytes(width, "big")))
    return nested(1, value, number(3, flags) if flags else b"")


def _compiled_rule(
    rule: Rule, direction: Direction, family: Family, sets: _Sets
) -> Iterator[bytes]:
    networks = networks_of(rule.networks, family)
    if not networks:
        return
    width, ports = _WIDTHS[family], merged(rule.ports)
    if networks == [(0, (1 << 8 * width) - 1)]:
        networks = []
    key = _ct(_CT_ADDRESS[direction, family], 0)
    by_address = [_in_piece(key, piece, width) for piece in networks] or [b""]
    port_key = _ct(_CT_PROTO_DST, 0)
    by_port = [_in_piece(port_key, piece, _PORT_BYTES) for piece in ports] or [b""]
    if len(by_address) * len(by_port) > MOST_RULES and len(networks) > 1:
        by_address = [key + _lookup(sets.name(networks, width))]
    if len(by_address) * len(by_port) > MOST_RULES:
        by_port = [port_key + _lookup(sets.name(ports, _PORT_BYTES))]
    head = _protocol(rule.protocol, family)
    for address in by_address:
        for port in by_port:
            yield head + port + address + _verdict(rule.action)


def _protocol(protocol: TransportProtocol, family: Family) -> bytes:
    value = _ICMPV6 if protocol == "ICMP" and family == 6 else _NUMBERS[protocol]
    meta = _expression("meta", _numbers((1, _REGISTER), (2, _META_L4PROTO)))
    return meta + _compare(0, bytes([value]))


def _in_piece(key: bytes, piece: Piece, width: int) -> bytes:
    first, last = (end.to_bytes(width, "big") for end in piece)
    if first == last:
        return key + _compare(0, first)
    ends = nested(3, attribute(1, first)) + nested(4, attribute(1, last))
    return key + _expression("range", _numbers((1, _REGISTER), (2, 0)) + ends)


def _drop_invalid() -> bytes:
    mask = nested(4, attribute(1, struct.pack("=I", _INVALID)))
    nothing = bytes(4)
    masked = _numbers((1, _REGISTER), (2, _REGISTER), (3, 4)) + mask
    masked += nested(5, attribute(1, nothing))
    return _ct(_CT_STATE) + _expression("bitwise", masked) + _compare(1, nothing) + _drop()


def _ct(key: int, direction: int | None = None) -> bytes:
    data = _numbers((1, _REGISTER), (2, key))
    if direction is not None:
        data += attribute(3, bytes([direction]))
    return _expression("ct", data)


def _compare(operation: int, value: bytes) -> bytes:
    """0: equal, 1: not equal."""
    data = _numbers((1, _REGISTER), (2, operation)) + nested(3, attribute(1, value))
    return _expression("cmp", data)


def _lookup(name: str) -> bytes:
    return _expression("lookup", text(1, name) + number(2, _REGISTER))


def _verdict(action: Action) -> bytes:
    """What is accepted goes on, to the firewall of the other side."""
    return _drop() if action == "DROP" else _ending(_RETURN)


def _drop() -> bytes:
    return _ending(_DROP)


def _ending(code: int) -> bytes:
    return _expression("immediate", number(1, 0) + nested(2, nested(2, number(1, code))))


def _expression(name: str, data: bytes) -> bytes:
    return nested(1, text(1, name), nested(2, data))
