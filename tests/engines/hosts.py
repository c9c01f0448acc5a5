"""Hosts that are network namespaces: what runs in one takes it for the machine."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from roost.engines.qemu.network.namespace import enter
from tests.engines.qemu_host import output

_T = TypeVar("_T")


class NamedHost:
    """A namespace, and a thread in it with an event loop; programs that it starts are in it too."""

    def __init__(self, name: str) -> None:
        self.name = name
        output("ip", "netns", "add", name)
        for every in ("all", "default"):  # Else two seconds pass until an address is used.
            self.program("sh", "-c", f"echo 0 > /proc/sys/net/ipv6/conf/{every}/accept_dad")
        # A new one does as the machine does, which may be a router.
        self.program("sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward")
        self.ip("link", "set", "lo", "up")
        self._runner = asyncio.Runner()
        self._thread = ThreadPoolExecutor(1, initializer=partial(enter, name))

    def run(self, work: Coroutine[object, object, _T]) -> _T:
        """What it returns on this host."""
        return self._thread.submit(self._runner.run, work).result()

    def ip(self, *command: str) -> str:
        return output("ip", "-n", self.name, *command)

    def program(self, *command: str) -> str:
        return output("ip", "netns", "exec", self.name, *command)

    def cable(self, device: str, other: "NamedHost", far: str) -> None:
        """Plug one end in here, the other one there."""
        peer = ("peer", "name", far, "netns", other.name)
        self.ip("link", "add", device, "type", "veth", *peer)
        self.ip("link", "set", device, "up")
        other.ip("link", "set", far, "up")

    def address(self, device: str, *interfaces: str) -> None:
        for interface in interfaces:
            probing = ("nodad",) if ":" in interface else ()
            self.ip("address", "add", interface, "dev", device, *probing)

    def close(self) -> None:
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()
        output("ip", "netns", "delete", self.name)
