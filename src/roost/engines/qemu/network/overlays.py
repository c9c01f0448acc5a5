"""The networks of a region's guests that go on on other hosts, by a tunnel each.

What is wanted is written down, as networks come and go with their guests. A VLAN's tunnel is a port
of its bridge, which learns who is behind which host; that of the region, or of a VPC, is one more
way of its router, which is told. A network that has no guest elsewhere has no tunnel.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.config import (
    NetworkConfig,
    network_name,
    region_number,
    vlan_bridge_name,
    vlans_name,
    vpc_name,
)
from roost.engines.qemu.network.host import masters
from roost.engines.qemu.network.links import batch
from roost.engines.qemu.network.namespace import namespace_path, on_host
from roost.engines.qemu.network.netlink import count_rules
from roost.engines.qemu.network.tunnels import (
    EVERYBODY,
    OVERLAY,
    Guard,
    Paths,
    change,
    host_mac,
    make,
    number,
    paths,
    settings,
    vlan_port_name,
)
from roost.resources.compute.live_engine import HostAddress
from roost.resources.compute.overlay_engine import Overlay, RemoteAddress
from roost.threads import DISK

_DOING = "The way to other hosts could not be set up"
_OVERLAY = TypeAdapter(Overlay)


@dataclass(frozen=True, slots=True)
class _Tunnel:
    """As it should be."""

    namespace: str
    device: str
    vni: int
    own: HostAddress | None
    paths: Paths
    bridge: str | None = None


class Overlays:
    """Callers hold the lock of the region's network."""

    def __init__(self, state_dir: Path, config: NetworkConfig) -> None:
        self._state_dir = state_dir
        self._path = state_dir / "network" / "overlay.json"
        self._region = number("region", region_number(config))
        self._vlans = vlans_name(state_dir)
        self._table = f"inet {network_name(state_dir).replace('-', '_')}_overlay"

    async def address(self) -> HostAddress | None:
        """At which other hosts reach this one."""
        return (await DISK.run(self._read)).address

    async def set(self, overlay: Overlay) -> None:
        """Networks of which nothing changes are left alone; all are looked at when nothing does."""
        before = await DISK.run(self._read)
        await DISK.run(lambda: self._write(overlay))
        await self._guard(overlay)
        former = self._tunnels(before, overlay)
        for key, tunnel in self._tunnels(overlay, before).items():
            if (before == overlay or tunnel != former[key]) and await _has_guests(tunnel):
                await _stretch(tunnel)

    async def get(self) -> Overlay | None:
        overlay = await DISK.run(self._read)
        if not await self._is_guarded(overlay):
            return None
        for tunnel in self._tunnels(overlay, Overlay()).values():
            if await _has_guests(tunnel) and await _held(tunnel) != tunnel.paths:
                return None
        return overlay

    async def stretch_region(self) -> None:
        """Bring the region's network, which is set up, to the other hosts."""
        overlay = await DISK.run(self._read)
        if overlay.region:
            await self._begin(overlay, self._of_region(overlay))

    async def stretch_vlan(self, vlan_id: int) -> None:
        """Stretch a VLAN, which has its bridge, to other hosts."""
        overlay = await DISK.run(self._read)
        if vlan_id in overlay.vlans:
            await self._begin(overlay, self._vlan(overlay, vlan_id))

    async def stretch_vpc(self, vpc_id: int) -> None:
        """And of a VPC, which has its router."""
        overlay = await DISK.run(self._read)
        if vpc_id in overlay.vpcs:
            await self._begin(overlay, self._vpc(overlay, vpc_id))

    async def tear_down(self) -> None:
        """Tunnels go with their networks."""
        rules = f"add table {self._table}\ndelete table {self._table}\n"
        await run(_DOING, "nft", "-f", "-", feed=rules)

    async def _begin(self, overlay: Overlay, tunnel: _Tunnel) -> None:
        """Nobody else sends into it before."""
        if not await self._is_guarded(overlay):
            await self._guard(overlay)
        await _stretch(tunnel)

    async def _guard(self, overlay: Overlay) -> None:
        await run(_DOING, "nft", "-f", "-", feed=self._guard_of(overlay).text)

    async def _is_guarded(self, overlay: Overlay) -> bool:
        wanted = {name: len(rules) for name, rules in self._guard_of(overlay).chains.items()}
        count = partial(count_rules, self._table)
        return await on_host(lambda: {name: count(name) for name in wanted}) == wanted

    def _read(self) -> Overlay:
        try:
            return _OVERLAY.validate_json(self._path.read_bytes())
        except (FileNotFoundError, ValueError):
            return Overlay()

    def _write(self, overlay: Overlay) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_bytes(_OVERLAY.dump_json(overlay))

    def _tunnels(self, overlay: Overlay, other: Overlay) -> dict[int, _Tunnel]:
        """The tunnels of all networks that either overlay has, as the first says; by number."""
        region = [self._of_region(overlay)] if overlay.region or other.region else []
        vlans = (self._vlan(overlay, key) for key in {*overlay.vlans, *other.vlans})
        vpcs = (self._vpc(overlay, key) for key in {*overlay.vpcs, *other.vpcs})
        return {tunnel.vni: tunnel for tunnel in (*region, *vlans, *vpcs)}

    def _of_region(self, overlay: Overlay) -> _Tunnel:
        name, known = network_name(self._state_dir), _known(overlay.region)
        return _Tunnel(name, OVERLAY, self._region, overlay.address, known)

    def _vlan(self, overlay: Overlay, vlan_id: int) -> _Tunnel:
        ends = frozenset((EVERYBODY, str(host)) for host in overlay.vlans.get(vlan_id, ()))
        vni, bridge = number("vlan", vlan_id), vlan_bridge_name(vlan_id)
        return _Tunnel(self._vlans, vlan_port_name(vni), vni, overlay.address, Paths(ends), bridge)

    def _vpc(self, overlay: Overlay, vpc_id: int) -> _Tunnel:
        name = vpc_name(self._state_dir, vpc_id)
        known = _known(overlay.vpcs.get(vpc_id, frozenset()))
        return _Tunnel(name, OVERLAY, number("vpc", vpc_id), overlay.address, known)

    def _guard_of(self, overlay: Overlay) -> Guard:
        peers = {host for each in overlay.vlans.values() for host in each}
        guests = (overlay.region, *overlay.vpcs.values())
        peers |= {guest.host for each in guests for guest in each}
        vnis = self._tunnels(overlay, Overlay())
        return Guard(self._table, overlay.address, vnis, peers, overlay.hosts)


def _known(guests: frozenset[RemoteAddress]) -> Paths:
    """What is told of guests elsewhere."""
    macs = {host: host_mac(host) for host in {each.host for each in guests}}
    return Paths(
        frozenset((mac, str(host)) for host, mac in macs.items()),
        frozenset((str(each.address), macs[each.host]) for each in guests),
        frozenset(route for each in guests for route in _routes(each)),
    )


def _routes(guest: RemoteAddress) -> list[tuple[str, str | None]]:
    """As the kernel shows them: no length where there is but one address."""
    address = str(guest.address)
    networks = (str(each).removesuffix("/32") for each in guest.ranges)
    return [(address, None), *((network, address) for network in networks)]


async def _has_guests(tunnel: _Tunnel) -> bool:
    """Whether the network is there, which the first guest brings along."""
    if not namespace_path(tunnel.namespace).exists():
        return False
    return tunnel.bridge is None or tunnel.bridge in await masters(tunnel.namespace)


async def _held(tunnel: _Tunnel) -> Paths | None:
    """The paths that the tunnel knows; None when it is another tunnel, none where there is no
    tunnel."""
    found = await settings(tunnel.namespace, tunnel.device)
    if found is None:
        return Paths()
    if found != (tunnel.vni, str(tunnel.own), tunnel.bridge):
        return None
    return await paths(tunnel.namespace, tunnel.device)


async def _stretch(tunnel: _Tunnel) -> None:
    """Let it be as it should be."""
    own = tunnel.own if tunnel.paths.ends else None
    found = await settings(tunnel.namespace, tunnel.device)
    if found is not None and (own is None or found != (tunnel.vni, str(own), tunnel.bridge)):
        await batch(f"link delete {tunnel.device}", tunnel.namespace)
        found = None
    if own is None:
        return
    if found is None:
        learning = tunnel.bridge is not None
        await make(tunnel.namespace, tunnel.device, tunnel.vni, own, learning=learning)
        master = "" if tunnel.bridge is None else f" master {tunnel.bridge}"
        await batch(f"link set {tunnel.device}{master} addrgenmode none up", tunnel.namespace)
    held = await paths(tunnel.namespace, tunnel.device)
    await change(tunnel.namespace, tunnel.device, held, tunnel.paths)
