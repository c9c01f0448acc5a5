"""nftables by netlink: messages, one transaction for many of them, and dumps.

The program `nft` reads every element of every set before it changes one, which takes seconds
where there are many. Integers are big-endian, attributes padded to four bytes
(linux/netfilter/nf_tables.h).
"""

import os
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

TABLE = "roost"
INET_FAMILY, BRIDGE_FAMILY = 1, 7

NEWCHAIN, GETCHAIN, DELCHAIN = 3, 4, 5
NEWRULE, GETRULE, DELRULE = 6, 7, 8
NEWSET, GETSET, DELSET = 9, 10, 11
NEWSETELEM, GETSETELEM, DELSETELEM = 12, 13, 14
GETOBJ = 19
CREATE, APPEND = 0x400, 0x800

_NETFILTER, _NFTABLES = 12, 10
_ERROR, _DONE = 2, 3
_REQUEST, _ACK, _DUMP, _INTERRUPTED = 0x1, 0x4, 0x300, 0x10
_BATCH_BEGIN, _BATCH_END = 0x10, 0x11
_NESTED, _TYPE_MASK = 0x8000, 0x3FFF
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 32, 33
_BUFFER = 16 << 20
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Message:
    """One change of a batch; `kind` is one of the constants above."""

    kind: int
    payload: bytes
    flags: int = 0


def attribute(kind: int, payload: bytes) -> bytes:
    header = struct.pack("=HH", len(payload) + 4, kind)
    return header + payload + bytes(-len(payload) % 4)


def nested(kind: int, *parts: bytes) -> bytes:
    return attribute(kind | _NESTED, b"".join(parts))


def number(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack("!I", value & 0xFFFFFFFF))


def text(kind: int, value: str) -> bytes:
    return attribute(kind, value.encode() + b"\0")


def attributes(payload: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + 4 <= len(payload):
        length, kind = struct.unpack_from("=HH", payload, offset)
        yield kind & _TYPE_MASK, payload[offset + 4 : offset + length]
        offset += length + -length % 4


def named(payload: bytes) -> dict[int, bytes]:
    """Attributes by kind, where each is there once."""
    return dict(attributes(payload))


def read_text(payload: bytes) -> str:
    return payload.rstrip(b"\0").decode()


class Netlink:
    """A socket in the network namespace of the thread that opens it; it stays there."""

    def __init__(self, family: int = INET_FAMILY) -> None:
        self._family = family
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER)
        self._socket.settimeout(_SECONDS)
        for option in (_SO_SNDBUFFORCE, _SO_RCVBUFFORCE):
            self._socket.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        self._sequence = 0

    def __enter__(self) -> "Netlink":
        return self

    def __exit__(self, *_error: object) -> None:
        self._socket.close()

    def commit(self, messages: Sequence[Message]) -> None:
        """All or nothing of them, in one transaction. OSError with the kernel's first reason."""
        if not messages:
            return
        data = [self._batch(_BATCH_BEGIN)]
        first = self._sequence
        for index, message in enumerate(messages, 1):
            acknowledged = _ACK if index == len(messages) else 0
            data.append(self._encode(message, _REQUEST | acknowledged | message.flags))
        last = self._sequence
        data.append(self._batch(_BATCH_END))
        self._socket.send(b"".join(data))
        problem = 0
        for kind, _, sequence, payload in self._receive():
            if kind == _ERROR:
                problem = problem or -struct.unpack_from("=i", payload)[0]
                if sequence in (first, last):
                    break
        if problem:
            raise OSError(problem, os.strerror(problem))

    def dump(self, kind: int, *parts: bytes) -> list[bytes]:
        """The attributes of every object there is."""
        while True:
            message = Message(kind, b"".join(parts))
            self._socket.send(self._encode(message, _REQUEST | _DUMP))
            found, interrupted = list[bytes](), False
            for answer, flags, _, payload in self._receive():
                interrupted = interrupted or bool(flags & _INTERRUPTED)
                if answer == _ERROR:
                    problem = -struct.unpack_from("=i", payload)[0]
                    raise OSError(problem, os.strerror(problem))
                if answer == _DONE:
                    break
                found.append(payload[4:])
            if not interrupted:
                return found

    def _receive(self) -> Iterator[tuple[int, int, int, bytes]]:
        """Kinds, flags, sequence numbers and payloads of what the kernel says."""
        while True:
            data, offset = self._socket.recv(_BUFFER >> 4), 0
            while offset < len(data):
                length, kind, flags, sequence, _ = struct.unpack_from("=IHHII", data, offset)
                yield kind, flags, sequence, data[offset + 16 : offset + length]
                offset += length + -length % 4

    def _batch(self, kind: int) -> bytes:
        return self._message(kind, _REQUEST, struct.pack("!BBH", 0, 0, _NFTABLES))

    def _encode(self, message: Message, flags: int) -> bytes:
        payload = struct.pack("!BBH", self._family, 0, 0) + message.payload
        return self._message(_NFTABLES << 8 | message.kind, flags, payload)

    def _message(self, kind: int, flags: int, payload: bytes) -> bytes:
        self._sequence += 1
        length = 16 + len(payload)
        header = struct.pack("=IHHII", length, kind, flags, self._sequence, 0)
        return header + payload + bytes(-length % 4)


def count_rules(table: str, chain: str) -> int:
    """Rules of a chain of a table (`inet roost`), which need not be there."""
    try:
        with Netlink() as kernel:
            return len(kernel.dump(GETRULE, text(1, table.split()[1]), text(2, chain)))
    except OSError:
        return 0
