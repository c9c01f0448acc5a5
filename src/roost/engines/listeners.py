"""Addresses and ports of the loopback network or of the operator's choice."""

import errno
import random
import socket
from collections.abc import Container, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import chain
from pathlib import Path

LOOPBACK = "127.0.0.1"
_USUAL = range(5300, 5400)
"""Where a person may expect a name server that is not on port 53."""
_OTHER_TRIES = 20
_QUIET = range(20_000, 32_000)
"""Below the ports that kernels give to outgoing connections, so that none takes a chosen one."""


class ListenerError(Exception):
    """A text names no address with a port, or no port is free."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Where queries are answered, over UDP and TCP."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Listener":
        """Read a listener from a text such as `192.0.2.53:53` or `[2001:db8::53]:53`.

        Raises ListenerError.
        """
        host, _, port = text.strip().rpartition(":")
        try:
            return cls(str(ip_address(host.removeprefix("[").removesuffix("]"))), int(port))
        except ValueError:
            raise ListenerError(f"{text!r} is not an address with a port") from None

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_listeners(text: str) -> tuple[Listener, ...]:
    """Read listeners from a list with commas. Raises ListenerError."""
    return tuple(Listener.parse(part) for part in text.split(","))


def is_free(listener: Listener) -> bool:
    """Whether a name server can listen there now."""
    return all(_can_bind(kind, listener) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM))


def tcp_port_is_free(port: int) -> bool:
    return _can_bind(socket.SOCK_STREAM, Listener(LOOPBACK, port))


def free_tcp_port(taken: Container[int] = ()) -> int:
    """For a server that is going to be started; none of those that are `taken` by others that are.

    Raises ListenerError when none is free.
    """
    first = random.randrange(len(_QUIET))
    for port in chain(_QUIET[first:], _QUIET[:first]):
        if port not in taken and tcp_port_is_free(port):
            return port
    raise ListenerError(f"no port is free on {LOOPBACK}")


def free_listener() -> Listener:
    """On the loopback address. Raises ListenerError when there is none."""
    for port in chain(_USUAL, _others()):
        if is_free(listener := Listener(LOOPBACK, port)):
            return listener
    raise ListenerError(f"no port for a name server is free on {LOOPBACK}")


def remembered_listener(path: Path) -> Listener:
    """As it was last; chosen now by whoever comes first. Raises ListenerError."""
    try:
        return Listener.parse(path.read_text())
    except FileNotFoundError:
        return choose_listener(path)


def choose_listener(path: Path) -> Listener:
    """Remember a free one. Raises ListenerError."""
    listener = free_listener()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_text(str(listener))
    partial.replace(path)
    return listener


def _others() -> Iterator[int]:
    for _ in range(_OTHER_TRIES):
        yield free_tcp_port()


def _can_bind(kind: socket.SocketKind, listener: Listener) -> bool:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    with socket.socket(family, kind) as probe:
        if kind == socket.SOCK_STREAM:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((listener.host, listener.port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES):
                return False
            raise
    return True
