"""The region's end of the metadata service, inside its namespace: listeners, and what they need."""

import errno
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from ipaddress import IPv4Address, IPv6Address

from roost.engines.qemu.network.config import METADATA, METADATA_PORT
from roost.engines.qemu.network.netlink import GETRULE, TABLE, Netlink, text
from roost.engines.qemu.network.rules import METADATA_CHAIN, METADATA_RULES

_BACKLOG = 256
_HOPS = 1
"""What a guest forwards to others, such as containers of its own, ends with it."""


def listen(addresses: Sequence[IPv4Address | IPv6Address]) -> tuple[socket.socket, ...]:
    """At all of these; none when another process has one of them, or they are not there yet.

    OSError.
    """
    with ExitStack() as stack:
        found = tuple(stack.enter_context(_socket(address)) for address in addresses)
        for address, listener in zip(addresses, found, strict=True):
            try:
                listener.bind((str(address), METADATA_PORT))
            except OSError as error:
                if error.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL):
                    return ()
                raise
            listener.listen(_BACKLOG)
        stack.pop_all()
        return found


def service_stands() -> bool:
    """Whether the addresses and the rules are there that keep the service to guests."""
    try:
        with ExitStack() as stack:
            for address in METADATA:
                family = socket.AF_INET if address.version == 4 else socket.AF_INET6
                probe = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
                probe.bind((str(address), 0))
            kernel = stack.enter_context(Netlink())
            return len(_rules(kernel, METADATA_CHAIN)) == len(METADATA_RULES) and len(
                _rules(kernel, "arrived")
            ) == len(METADATA)
    except OSError:
        return False


def _rules(kernel: Netlink, chain: str) -> list[bytes]:
    return kernel.dump(GETRULE, text(1, TABLE), text(2, chain))


def _socket(address: IPv4Address | IPv6Address) -> socket.socket:
    is_v4 = address.version == 4
    found = socket.socket(socket.AF_INET if is_v4 else socket.AF_INET6)
    found.setblocking(False)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if is_v4:
        found.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, _HOPS)
    else:
        found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, _HOPS)
    return found
