"""How long a guest is silent: pings from a namespace, one every few milliseconds."""

import os
import select
import socket
import struct
import threading
import time
from ipaddress import IPv4Address
from types import TracebackType

from roost.engines.qemu.network.namespace import enter

_EVERY_SECONDS = 0.005
_ECHO, _ECHO_REPLY = 8, 0
_HEADER = struct.Struct("!BBHHH")


class Pinger:
    """While the block lasts."""

    def __init__(self, namespace: str, target: IPv4Address) -> None:
        self._namespace, self._target = namespace, str(target)
        self._identity = os.getpid() & 0xFFFF
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ping)
        self.answered: list[float] = []
        self.sent = 0

    def __enter__(self) -> "Pinger":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def gap(self) -> float:
        """Seconds of the longest silence between two answers."""
        pairs = zip(self.answered, self.answered[1:], strict=False)
        return max(later - earlier for earlier, later in pairs)

    def _ping(self) -> None:
        enter(self._namespace)
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as pipe:
            pipe.setblocking(False)
            due = time.monotonic()
            while not self._over.is_set():
                if time.monotonic() >= due:
                    due = time.monotonic() + _EVERY_SECONDS
                    self._send(pipe)
                ready, _, _ = select.select([pipe], [], [], _EVERY_SECONDS)
                if ready:
                    self._hear(pipe)

    def _send(self, pipe: socket.socket) -> None:
        self.sent += 1
        number = self.sent & 0xFFFF
        checksum = _sum(_HEADER.pack(_ECHO, 0, 0, self._identity, number))
        packet = _HEADER.pack(_ECHO, 0, checksum, self._identity, number)
        try:
            pipe.sendto(packet, (self._target, 0))
        except OSError:
            return  # Nobody answers for the address now.

    def _hear(self, pipe: socket.socket) -> None:
        try:
            data, (source, _) = pipe.recvfrom(2048)
        except OSError:
            return  # The same, told later.
        kind, _, _, identity, _ = _HEADER.unpack_from(data, 20)
        if (kind, identity, source) == (_ECHO_REPLY, self._identity, self._target):
            self.answered.append(time.monotonic())


def _sum(data: bytes) -> int:
    words: tuple[int, ...] = struct.unpack(f"!{len(data) // 2}H", data)
    total = sum(words)
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF
