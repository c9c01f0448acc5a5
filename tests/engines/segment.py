"""Two hosts on a network segment with the world, each a network namespace."""

from ipaddress import IPv4Address

from tests.engines.harness import Pools
from tests.engines.hosts import NamedHost

_ROUTER = "192.0.2.9"
_PREFIX = 24


class Segment:
    """The world takes the region's addresses for neighbours: it learns where one is by ARP."""

    def __init__(self, name: str, pools: Pools) -> None:
        self.world, self.here, self.there = (NamedHost(f"{name}{end}") for end in "wab")
        self.world.ip("link", "add", "br0", "type", "bridge")
        self.world.ip("link", "set", "br0", "up")
        self.world.address("br0", f"{_ROUTER}/{_PREFIX}")
        self.world.ip("route", "add", str(pools.ipv4.network), "dev", "br0")
        self.addresses = {self.here: IPv4Address("192.0.2.1"), self.there: IPv4Address("192.0.2.2")}
        for host, address in self.addresses.items():
            port = f"to-{host.name[-1]}"
            self.world.cable(port, host, "eth0")
            self.world.ip("link", "set", port, "master", "br0")
            host.address("eth0", f"{address}/{_PREFIX}")
            host.ip("route", "add", "default", "via", _ROUTER)

    def close(self) -> None:
        for host in (self.here, self.there, self.world):
            host.close()


def answer_for(host: NamedHost, address: str) -> None:
    """On the segment, for a guest's address, as the region's operator sets it up."""
    host.ip("neigh", "replace", "proxy", address, "dev", "eth0")


def leave_to_others(host: NamedHost, address: str) -> None:
    """The reverse; nothing happens where it does not answer."""
    if address in host.ip("neigh", "show", "proxy", "dev", "eth0").split():
        host.ip("neigh", "del", "proxy", address, "dev", "eth0")
