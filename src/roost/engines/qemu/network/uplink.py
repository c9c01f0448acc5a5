"""The way out of a region, on the host: what its guests reach of the host, and beyond it.

A table of the host's packet filter for each region says so. Another one, of all regions, is there
while the host forwards packets only because of them: it stays no router for its neighbours.
"""

import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from roost.engines.qemu.host.programs import failure, run
from roost.engines.qemu.network.config import CABLES, UPLINK, NetworkConfig
from roost.engines.qemu.network.host import devices
from roost.engines.qemu.network.namespace import on_host, within
from roost.engines.qemu.network.netlink import count_rules
from roost.resources.compute.live_engine import HostAddress

_DOING = "The way out of the region could not be set up"

_SYSCTL = Path("/proc/sys/net")
_NETWORKS = Path("/proc/thread-self/net")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_FORWARDING = {4: "ipv4/ip_forward", 6: "ipv6/conf/all/forwarding"}
_ACCEPT_RA, _ALSO_AS_ROUTER = "ipv6/conf/{}/accept_ra", "2"

_GUARD = "inet roost_forwarding"
_FAMILIES = {4: "ipv4", 6: "ipv6"}

_NEVER = ("ip daddr 169.254.0.0/16", "ip6 daddr { fe80::/10, fd00:ec2::254 }")
"""Where hosts that are somebody's guests themselves are told their secrets."""

_OWN_SIGNALS = (
    "icmp type echo-request accept",
    "icmpv6 type { echo-request, nd-neighbor-solicit, nd-neighbor-advert } accept",
)


MOST_NEIGHBOURS = 256
_NEIGHBOUR_SECONDS = 30
"""Of the host's own networks, guests may make it ask for so many in so long: all networks of a host
share one table of neighbours. Routers of its default routes count for nothing."""


class _Route(BaseModel):
    dev: str = ""
    gateway: str | None = None


_ROUTES = TypeAdapter(list[_Route])


@dataclass(frozen=True, slots=True)
class HostUplink:
    """The uplink of one region. Methods may be called again at any time."""

    device: str
    """The host's end of the region's cable."""
    config: NetworkConfig

    async def guard(self) -> None:
        """Before there is a cable: what guests are kept from, and what is done to their packets."""
        await _apply(self._rules() + await self._gateways())

    async def forward(self) -> None:
        """Let the host forward, where it does not yet and the region is to have a way out."""
        if self.config.uplink == "none":
            return
        try:
            for version in await self._versions():
                if await on_host(partial(_is_kept, version)):
                    continue
                await _apply(_guard(version))
                await self._keep_routes(version)
                await on_host(partial(_start_forwarding, version))
        except OSError as error:
            raise failure(_DOING, error) from error

    async def stands(self) -> bool:
        """Whether nobody has changed what `guard` and `forward` have made."""
        wanted = {name: len(rules) for name, (_, rules) in self._chains().items()}
        count = partial(count_rules, self._table)
        if await on_host(lambda: {name: count(name) for name in wanted}) != wanted:
            return False
        if self.config.uplink == "none":
            return True
        versions = await self._versions()
        return await within(self.device, _leads_out) and await on_host(
            lambda: all(map(_is_kept, versions))
        )

    async def source(self, address: HostAddress | None) -> HostAddress | None:
        """From where the host speaks with guests of other hosts, which answer by their own way out:
        at its address of `ROOST_HOST_LISTEN`. None where they have no such way."""
        if self.config.uplink != "routed" or address is None:
            return None
        return address if await on_host(partial(_is_own, address)) else None

    async def devices(self) -> list[str]:
        """The host's devices by which the region is reached; none where it is to have no way
        out."""
        if self.config.uplink != "routed":
            return []
        found = [name for version in (4, 6) for name in await _default_devices(version)]
        return list(dict.fromkeys(found))

    async def remove(self) -> None:
        """Without the cable, which is gone."""
        await _apply(f"add table {self._table}\ndelete table {self._table}\n")
        if not any(name.startswith(CABLES) for name in await devices()):
            await on_host(_stop_forwarding)
            await _apply(f"add table {_GUARD}\ndelete table {_GUARD}\n")

    @property
    def _table(self) -> str:
        return f"inet {self.device.replace('-', '_')}"

    async def _versions(self) -> tuple[int, ...]:
        """IPv6 only where the host itself has a way out by it."""
        return (4, 6) if await _default_devices(6) else (4,)

    async def _keep_routes(self, version: int) -> None:
        """A host that forwards IPv6 no longer learns its own routes, unless it is told to."""
        if version == 6:
            learning = await _default_devices(6)
            await on_host(lambda: _learn_as_router(learning))

    async def _gateways(self) -> str:
        """The elements of the sets of routers."""
        lines = list[str]()
        for version in _FAMILIES:
            routers = f"{self._table} routers{version}"
            lines.append(f"flush set {routers}")
            found = {each.gateway for each in await _default_routes(version)} - {None}
            lines += [f"add element {routers} {{ {router} }}" for router in found]
        return "".join(f"{line}\n" for line in lines)

    def _rules(self) -> str:
        table, chains = self._table, self._chains()
        lines = [f"add table {table}"]
        asked = f"size {MOST_NEIGHBOURS}; flags dynamic,timeout; timeout {_NEIGHBOUR_SECONDS}s;"
        for version, family in _FAMILIES.items():
            lines.append(f"add set {table} routers{version} {{ type {family}_addr; }}")
            lines.append(f"add set {table} asked{version} {{ type {family}_addr; {asked} }}")
        for name, (hook, _) in chains.items():
            lines.append(f"add chain {table} {name}" + (hook and f" {{ {hook}; policy accept; }}"))
            lines.append(f"flush chain {table} {name}")
        for name, (_, rules) in chains.items():
            lines += [f"add rule {table} {name} {rule}" for rule in rules]
        return "".join(f"{line}\n" for line in lines)

    def _chains(self) -> Mapping[str, tuple[str, Sequence[str]]]:
        """Where each is hooked, and its rules."""
        arriving = (f'iifname "{self.device}" jump from_guests',)
        return {
            "arriving": ("type filter hook input priority -5", arriving),
            "from_guests": ("", self._from_guests()),
            "forwarded": ("type filter hook forward priority -5", tuple(self._forwarded())),
            "asking": ("type filter hook forward priority -4", tuple(self._asking())),
            "leaving": ("type nat hook postrouting priority 100", tuple(self._leaving())),
        }

    def _from_guests(self) -> tuple[str, ...]:
        """What may come to the host itself; nobody waits for an answer to the rest."""
        names = [
            f"{'ip' if each.version == 4 else 'ip6'} daddr {each} meta l4proto {{ tcp, udp }}"
            " th dport 53 accept"
            for each in self.config.resolvers
        ]
        ports = [f"{each.replace('/', ' dport ')} accept" for each in self.config.host_ports]
        reject = "reject with icmpx type admin-prohibited"
        return "ct state established,related accept", *_OWN_SIGNALS, *names, *ports, reject

    def _forwarded(self) -> Iterator[str]:
        for each in _NEVER:
            yield f'iifname "{self.device}" {each} drop'
        if self.config.uplink == "none":
            return
        for family, version in (("ip", 4), ("ip6", 6)):
            own = ", ".join(str(each) for each in self.config.pools if each.version == version)
            yield f'iifname "{self.device}" {family} saddr != {{ {own} }} drop'
        if self.config.uplink == "nat":
            yield f'oifname "{self.device}" iifname != "{CABLES}*" ct state new drop'

    def _asking(self) -> Iterator[str]:
        """Whom the host may have to look for on its networks."""
        if self.config.uplink != "none":
            begins = f'iifname "{self.device}" oifname != "{CABLES}*" ct state new'
            for version, family in ((4, "ip"), (6, "ip6")):
                hop = f"rt {family} nexthop"
                yield f"{begins} {hop} @routers{version} accept"
                yield f"{begins} update @asked{version} {{ {hop} }} accept"
            yield f"{begins} drop"

    def _leaving(self) -> Iterator[str]:
        if self.config.uplink == "nat":
            yield f'iifname "{self.device}" oifname != "{CABLES}*" masquerade'


def _guard(version: int) -> str:
    """Packets of neighbours are forwarded to nobody but guests."""
    chain = f"{_GUARD} {_FAMILIES[version]}"
    strangers = f'iifname != "{CABLES}*" oifname != "{CABLES}*"'
    return (
        f"add table {_GUARD}\n"
        f"add chain {chain} {{ type filter hook forward priority -5; policy accept; }}\n"
        f"flush chain {chain}\n"
        f"add rule {chain} meta nfproto {_FAMILIES[version]} {strangers} drop\n"
    )


def _leads_out() -> bool:
    """Whether a region's namespace has its default routes; inside it."""
    ipv4, ipv6 = (_NETWORKS.joinpath(name).read_text() for name in ("route", "ipv6_route"))
    everything = f"{UPLINK}\t00000000\t"
    return any(line.startswith(everything) for line in ipv4.splitlines()) and any(
        line.startswith(f"{0:032x} 00 ") and line.split()[-1] == UPLINK
        for line in ipv6.splitlines()
    )


def _forwards(version: int) -> bool:
    return _SYSCTL.joinpath(_FORWARDING[version]).read_text().strip() != "0"


def _is_kept(version: int) -> bool:
    """Whether the host forwards: for others, too, or kept from doing so for strangers."""
    guarded = not _was_started(version) or count_rules(_GUARD, _FAMILIES[version]) > 0
    return _forwards(version) and guarded


def _start_forwarding(version: int) -> None:
    """Remembered where no flush of the packet filter loses it, for as long as the kernel runs."""
    _mark(version).write_text(_BOOT_ID.read_text())
    _SYSCTL.joinpath(_FORWARDING[version]).write_text("1")


def _stop_forwarding() -> None:
    for version in filter(_was_started, _FAMILIES):
        _SYSCTL.joinpath(_FORWARDING[version]).write_text("0")
        _mark(version).unlink()


def _is_own(address: HostAddress) -> bool:
    """Whether it is one of the host's; the kernel takes no other one as a source."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True


def _was_started(version: int) -> bool:
    """By us, since the host was booted."""
    try:
        return _mark(version).read_text() == _BOOT_ID.read_text()
    except FileNotFoundError:
        return False


def _mark(version: int) -> Path:
    """The mark of the network namespace that is the host to us."""
    inode = Path("/proc/thread-self/ns/net").stat().st_ino
    return Path(f"/run/roost-forwarding-{inode}-{_FAMILIES[version]}")


def _learn_as_router(names: Iterable[str]) -> None:
    for name in names:
        setting = _SYSCTL.joinpath(_ACCEPT_RA.format(name))
        if setting.exists() and setting.read_text().strip() == "1":
            setting.write_text(_ALSO_AS_ROUTER)


async def _default_devices(version: int) -> list[str]:
    """The devices that the host's default routes lead to."""
    return [route.dev for route in await _default_routes(version) if route.dev]


async def _default_routes(version: int) -> list[_Route]:
    shown = await run(_DOING, "ip", f"-{version}", "-json", "route", "show", "default")
    return _ROUTES.validate_json(shown or "[]")


async def _apply(rules: str) -> None:
    await run(_DOING, "nft", "-f", "-", feed=rules)
