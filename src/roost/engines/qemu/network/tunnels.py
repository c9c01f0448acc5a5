"""VXLAN devices: what they are called and numbered, what they know, and who may send to them.

A tunnel's device lies in the namespace of a network of guests, and its packets leave by the host's
own network (RFC 7348). Each is told the other hosts; nothing is sent to a group.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter

from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.config import CABLES
from roost.resources.compute.live_engine import HostAddress

PORT = 4789
"""Of UDP, on every host."""
OVERLAY = "overlay"
"""The device in the region's network, and in a VPC."""
EVERYBODY = "00:00:00:00:00:00"
"""Stands for what is for all, and for whom nobody knows yet."""

_DOING = "The way to other hosts could not be set up"
_MTU = 1500
_METRIC = 5
"""Of routes, which count before those to guests of this host: where a guest is, rows say."""
_KINDS = ("vlan", "vpc", "region")
_NUMBERS = 1 << 24


@dataclass(frozen=True, slots=True)
class Paths:
    """What a tunnel's device knows."""

    ends: frozenset[tuple[str, str]] = frozenset()
    """MAC addresses, and the host that they are at."""
    neighbours: frozenset[tuple[str, str]] = frozenset()
    """Addresses, and the MAC address that they are behind."""
    routes: frozenset[tuple[str, str | None]] = frozenset()
    """Networks, and the address that they are behind, if it is not they themselves."""


class _Settings(BaseModel):
    id: int | None = None
    local: str | None = None
    local6: str | None = None


class _Kind(BaseModel):
    info_data: _Settings = Field(default_factory=_Settings)


class _Device(BaseModel):
    master: str | None = None
    linkinfo: _Kind = Field(default_factory=_Kind)


class _End(BaseModel):
    mac: str
    dst: str | None = None
    state: str = ""


class _Neighbour(BaseModel):
    dst: str
    lladdr: str = ""


class _Route(BaseModel):
    dst: str
    gateway: str | None = None
    metric: int = 0


_DEVICES = TypeAdapter(list[_Device])
_ENDS = TypeAdapter(list[_End])
_NEIGHBOURS = TypeAdapter(list[_Neighbour])
_ROUTES = TypeAdapter(list[_Route])


def number(kind: Literal["vlan", "vpc", "region"], key: int) -> int:
    """The number of a network (VNI), which has 24 bits: after 4 million VPCs or VLANs they are used
    again."""
    return (key * 4 + _KINDS.index(kind)) % _NUMBERS


def host_mac(host: HostAddress | str) -> str:
    """The MAC address of a host's ends of its tunnels; locally administered."""
    digest = hashlib.sha256(str(host).encode()).digest()
    return ":".join(f"{octet:02x}" for octet in (0x16, *digest[:5]))


def vlan_port_name(vni: int) -> str:
    """The device of a VLAN, beside those of others; 15 characters at most."""
    return f"tunnel{vni}"


async def settings(namespace: str, device: str) -> tuple[int | None, str | None, str | None] | None:
    """Number, the host's own address, and the bridge that it is a port of; None without device."""
    show = ("-json", "-details", "link", "show", "dev", device)
    text = await run(_DOING, "ip", "-n", namespace, *show, ok=(0, 1))
    for each in _DEVICES.validate_json(text or "[]"):
        data = each.linkinfo.info_data
        return data.id, data.local or data.local6, each.master
    return None


async def paths(namespace: str, device: str) -> Paths:
    """What a device knows at this moment, without what it has learnt by itself."""
    inside, show = ("-n", namespace, "-json"), ("show", "dev", device)
    ends = await run(_DOING, "bridge", *inside, "fdb", *show)
    neighbours, routes = list[_Neighbour](), list[_Route]()
    for family in ("-4", "-6"):
        found = await run(_DOING, "ip", family, *inside, "neigh", *show, "nud", "permanent")
        neighbours += _NEIGHBOURS.validate_json(found or "[]")
        found = await run(_DOING, "ip", family, *inside, "route", *show)
        routes += _ROUTES.validate_json(found or "[]")
    return Paths(
        frozenset(
            (each.mac, each.dst)
            for each in _ENDS.validate_json(ends or "[]")
            if each.dst is not None and each.state == "permanent"
        ),
        frozenset((each.dst, each.lladdr) for each in neighbours),
        frozenset((each.dst, each.gateway) for each in routes if each.metric == _METRIC),
    )


async def make(namespace: str, device: str, vni: int, own: HostAddress, *, learning: bool) -> None:
    """The device, off. It stays with the network of the host that this process is in."""
    learn = "learning" if learning else "nolearning"
    command = (
        f"link add {device} netns {namespace} address {host_mac(own)} mtu {_MTU}"
        f" type vxlan id {vni} local {own} dstport {PORT} {learn}\n"
    )
    await run(_DOING, "ip", "-batch", "-", feed=command)


async def change(namespace: str, device: str, held: Paths, wanted: Paths) -> None:
    """Let a device that is up know this instead."""
    ends = [f"fdb del {mac} dev {device} dst {to} self" for mac, to in held.ends - wanted.ends]
    ends += [
        f"fdb append {mac} dev {device} dst {to} self permanent"
        for mac, to in wanted.ends - held.ends
    ]
    await _batch("bridge", namespace, ends)
    lines = [f"route del {_route(device, each)}" for each in _last(held.routes - wanted.routes)]
    left = held.neighbours - wanted.neighbours
    lines += [f"neigh del {address} dev {device}" for address, _ in left]
    lines += [
        f"neigh replace {address} lladdr {mac} dev {device} nud permanent"
        for address, mac in wanted.neighbours - held.neighbours
    ]
    added = reversed(_last(wanted.routes - held.routes))
    lines += [f"route replace {_route(device, each)}" for each in added]
    await _batch("ip", namespace, lines)


@dataclass(frozen=True, slots=True)
class Guard:
    """A table of the host's packet filter: nobody but hosts with guests in a network sends into it.

    Guests do not either, in the name of their host by NAT.
    """

    table: str
    own: HostAddress | None
    vnis: Collection[int]
    """Of this host's networks."""
    peers: Collection[HostAddress]
    """That send into them."""
    hosts: Collection[HostAddress]
    """Into whose networks guests do not send."""

    @property
    def text(self) -> str:
        """Can be applied again at any time."""
        lines = [f"add table {self.table}"]
        for name, rules in self.chains.items():
            hook = "input" if name == "arriving" else "forward"
            chain = f"{self.table} {name}"
            lines.append(
                f"add chain {chain} {{ type filter hook {hook} priority -6; policy accept; }}"
            )
            lines.append(f"flush chain {chain}")
            lines += [f"add rule {chain} {rule}" for rule in rules]
        return "".join(f"{line}\n" for line in lines)

    @property
    def chains(self) -> dict[str, list[str]]:
        """Their rules."""
        return {"arriving": list(self._arriving()), "forwarded": list(self._forwarded())}

    def _arriving(self) -> Iterator[str]:
        if self.vnis and self.own is not None:
            packet = f"udp dport {PORT} @th,96,24 {{ {', '.join(map(str, sorted(self.vnis)))} }}"
            if self.peers:
                family = _family(self.own)
                ends = f"{family} daddr {self.own} {family} saddr {_set(self.peers)}"
                yield f"{packet} {ends} accept"
            yield f"{packet} drop"

    def _forwarded(self) -> Iterator[str]:
        if self.hosts and self.own is not None:
            there = f"{_family(self.own)} daddr {_set(self.hosts)}"
            yield f'iifname "{CABLES}*" {there} udp dport {PORT} drop'


def _family(address: HostAddress) -> str:
    return "ip" if address.version == 4 else "ip6"


def _set(hosts: Collection[HostAddress]) -> str:
    return f"{{ {', '.join(sorted(map(str, hosts)))} }}"


def _route(device: str, route: tuple[str, str | None]) -> str:
    network, via = route
    way = f"dev {device}" if via is None else f"via {via} dev {device} onlink"
    return f"{network} {way} metric {_METRIC}"


def _last(routes: Iterable[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """Those that need others first."""
    return sorted(routes, key=lambda route: (route[1] is None, route[0]))


async def _batch(program: Literal["ip", "bridge"], namespace: str, lines: list[str]) -> None:
    if lines:
        feed = "".join(f"{line}\n" for line in lines)
        await run(_DOING, program, "-n", namespace, "-batch", "-", feed=feed)
