"""Guests that are network namespaces: a whole TCP/IP stack behind a guest's network device."""

import os
import select
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from roost.engines.qemu.network.namespace import open_tap, within
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import VpcLink
from tests.engines.qemu_host import output

_T = TypeVar("_T")
_FRAME = 65_546


class Stack:
    """A guest of a network; open it with `boot`."""

    def __init__(self, network: GuestNetwork, spec: InstanceSpec) -> None:
        self._network = network
        self.spec = spec
        self._name = f"{network.name}-guest{spec.id}"
        self._ends: tuple[int, ...] = ()
        self._stopping, self._stop = os.pipe()

    async def boot(self) -> None:
        """With all its addresses, and routes to the gateway."""
        output("ip", "netns", "add", self._name)
        inside = ("ip", "-n", self._name)
        (near,) = await self._network.attach(self.spec)
        far = await within(self._name, lambda: open_tap("eth0"))
        self._ends = (near, far)
        self._address(inside)
        self._pump = threading.Thread(target=self._carry)
        self._pump.start()

    def _address(self, inside: Sequence[str]) -> None:
        output(*inside, "link", "set", "eth0", "address", self.spec.mac, "up")
        for address in self.spec.ipv4:
            output(*inside, "address", "add", str(address.interface), "dev", "eth0")
        output(*inside, "route", "add", "default", "via", str(self.spec.ipv4[0].gateway))
        output(*inside, "address", "add", str(self.spec.ipv6), "dev", "eth0", "nodad")
        output(*inside, "-6", "route", "add", "default", "via", "fe80::1", "dev", "eth0")

    async def run(self, work: Callable[[], _T]) -> _T:
        """What a program in the guest does."""
        return await within(self._name, work)

    def close(self) -> None:
        if self._ends:
            os.close(self._stop)
            self._pump.join()
            for end in self._ends:
                os.close(end)
        output("ip", "netns", "delete", self._name)

    def _carry(self) -> None:
        """Frames from either device to the other; both have the same header."""
        near, far = self._ends
        while True:
            ready, _, _ = select.select([near, far, self._stopping], [], [])
            if self._stopping in ready:
                os.close(self._stopping)
                return
            for end in ready:
                os.write(far if end == near else near, os.read(end, _FRAME))


class VpcStack(Stack):
    """One whose only interface is in a VPC."""

    def _address(self, inside: Sequence[str]) -> None:
        (link,) = self.spec.links
        assert isinstance(link, VpcLink)
        output(*inside, "link", "set", "eth0", "address", link.mac, "up")
        output(*inside, "address", "add", str(link.interface), "dev", "eth0")
        output(*inside, "route", "add", "default", "via", str(link.gateway))
