"""The rules of firewalls as pure functions (spec B firewall record)."""

import re
from collections.abc import Iterable
from ipaddress import IPv6Network, ip_address
from socket import AF_INET, AF_INET6, inet_pton

from roost.web.fields import MAPPED, refuse

MAX_RULES = 25
MAX_ADDRESSES = 255
MAX_PIECES = 15
MAX_TAKEN = 1000
"""Devices that are named when a firewall is made."""

LABEL_PATTERN = r"[A-Za-z0-9](?!.*(?:--|__|\.\.))(?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
LABEL_REASON = (
    "Must begin and end with a letter or number, and hold only letters, numbers, hyphens, "
    "underscores and periods, none of the last three twice in a row"
)
MANY_RULES = f"A firewall has at most {MAX_RULES} rules, inbound and outbound together"
MANY_ADDRESSES = f"A rule has at most {MAX_ADDRESSES} addresses, IPv4 and IPv6 together"

_PIECE = re.compile(r"([1-9][0-9]{0,4})(?:-([1-9][0-9]{0,4}))?", re.ASCII)
_MASK = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)
_MAX_PORT = 65535
_MAPPED = bytes(10) + b"\xff\xff"
"""How IPv6 addresses begin that stand for IPv4 ones (RFC 4291, 2.5.5.2)."""


def parse_ports(text: str) -> list[tuple[int, int]]:
    """First and last port of each piece, such as of `22, 80,8000-9000`; nothing for "".

    Raises what a validator may.
    """
    if not text:
        return []
    pieces = [_piece(part.removeprefix(" ") if index else part) for index, part in _parts(text)]
    if sum(1 if first == last else 2 for first, last in pieces) > MAX_PIECES:
        raise refuse(f"Must have at most {MAX_PIECES} ports, of which a range counts as two")
    return pieces


def _parts(text: str) -> Iterable[tuple[int, str]]:
    return enumerate(text.split(","))


def _piece(text: str) -> tuple[int, int]:
    found = _PIECE.fullmatch(text)
    if found is None:
        raise refuse("Must be ports from 1 to 65535 and ranges of them, with commas between")
    first, last = int(found[1]), int(found[2] or found[1])
    if max(first, last) > _MAX_PORT:
        raise refuse("Must be ports from 1 to 65535 and ranges of them, with commas between")
    if found[2] is not None and last <= first:
        raise refuse("The end of a range of ports must be greater than its start")
    return first, last


def check_ipv4(network: str) -> str:
    """An IPv4 address with its mask, as `192.0.2.0/24`."""
    return _check_network(network, AF_INET, 32, "Must be an IPv4 address and its mask, as ip/mask")


def check_ipv6(network: str) -> str:
    """An IPv6 address with its mask and without a zone."""
    return _check_network(
        network, AF_INET6, 128, "Must be an IPv6 address and its mask, as ip/mask"
    )


def _check_network(network: str, family: int, widest: int, reason: str) -> str:
    """Not by `ipaddress`, which takes a tenth of a second for all that one firewall may have."""
    address, _, mask = network.partition("/")
    try:
        packed = inet_pton(family, address)
    except (OSError, ValueError):
        raise refuse(reason) from None
    if packed.startswith(_MAPPED):
        raise refuse(MAPPED)
    if _MASK.fullmatch(mask) is None or int(mask) > widest:
        raise refuse(reason)
    return network


def filtered_addresses(
    ipv4: Iterable[str], ipv6: str | None, ranges: Iterable[IPv6Network] = ()
) -> frozenset[str]:
    """What an instance has on interfaces that are no vlan (spec B networking 1 interfaces)."""
    slaac = [] if ipv6 is None else [ipv6.partition("/")[0]]
    addresses = (str(ip_address(address)) for address in (*ipv4, *slaac))
    return frozenset((*addresses, *map(str, ranges)))
