"""VPCs of a region: a namespace each, with a router, a bridge for each subnet and a cable to the
region's network.

Guests reach each other through the router, so that subnets of one VPC may overlap those of
another. Out of it goes only what has a public address by 1:1 NAT. What was set up for a guest is
noted in a file, by which it is undone before its next start; a VPC goes with its last guest.
"""

from functools import partial
from pathlib import Path

from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.config import (
    GUEST_METRIC,
    METADATA,
    UPLINK,
    network_name,
    side_tap_name,
    vpc_cable_name,
    vpc_name,
    vpc_names,
)
from roost.engines.qemu.network.filters import Filters
from roost.engines.qemu.network.host import devices, masters
from roost.engines.qemu.network.links import (
    batch,
    ensure_namespace,
    forget_routes,
    remove_if_there,
    take_tap,
)
from roost.engines.qemu.network.namespace import (
    namespace_path,
    set_up_router,
    set_up_subnet,
    within,
)
from roost.engines.qemu.network.overlays import Overlays
from roost.engines.qemu.network.rules import BASE, no_port_rules, port_rules
from roost.engines.qemu.network.shaping import queue_of
from roost.engines.qemu.network.vpc_ports import (
    VpcPort,
    forget_port,
    read_ports,
    subnet_name,
    write_port,
)
from roost.engines.qemu.network.vpc_rules import ROUTER_RULES, frame_rules, nat_rules, no_nat_rules
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import VpcLink
from roost.threads import DISK

_DOING = "The VPC could not be set up"
_NEAR, _FAR = "169.254.254.1", "169.254.254.2"
"""The region's and the VPC's end of each cable."""


class VpcNetworks:
    """Callers hold the lock of the region's network, which is set up."""

    def __init__(self, state_dir: Path, overlays: Overlays) -> None:
        self._state_dir = state_dir
        self._overlays = overlays
        self._region = network_name(state_dir)
        self._directory = state_dir / "network" / "vpcs"
        self._filters = Filters(state_dir)

    async def make_room(self, spec: InstanceSpec) -> None:
        """Undo what guests have left that are off by now, where this one is going to be."""
        links = [link for link in spec.links if isinstance(link, VpcLink)]
        vpcs = {link.vpc_id for link in links}
        public = {str(each.interface.ip) for each in spec.ipv4}
        public |= {str(link.public) for link in links if link.public is not None}
        for port in await DISK.run(read_ports, self._directory):
            own = port.compute_id == spec.id or port.public in public
            if own or (port.vpc_id in vpcs and not await self._is_plugged(port)):
                await self._undo(port)

    async def attach(self, spec: InstanceSpec, number: int, link: VpcLink) -> int:
        """The descriptor of the guest's eth`number`, which ends with it."""
        port = VpcPort.of(spec.id, number, link)
        name, tap = vpc_name(self._state_dir, port.vpc_id), side_tap_name(spec.id, number)
        await DISK.run(partial(write_port, self._directory, port))
        await ensure_namespace(name, set_up_router)
        await self._plug_in(port.vpc_id, name)
        await self._make_subnet(name, link)
        await _apply(name, ROUTER_RULES + BASE + port_rules(tap, frame_rules(spec, link, tap)))
        await self._filters.bring(port.vpc_id)
        await self._overlays.stretch_vpc(port.vpc_id)
        settings = (
            f"master {subnet_name(port.subnet_id)}",
            "type bridge_slave isolated on flood off",
        )
        descriptor = await take_tap(name, tap, settings, spec.network_out)
        await self._admit(name, port)
        return descriptor

    async def release(self, compute_id: int) -> None:
        """Undo all of a guest."""
        for port in await DISK.run(read_ports, self._directory):
            if port.compute_id == compute_id:
                await self._undo(port)

    async def tear_down(self) -> None:
        for name in vpc_names(self._state_dir):
            await run("The VPCs could not be removed", "ip", "netns", "delete", name)

    async def _is_plugged(self, port: VpcPort) -> bool:
        name = vpc_name(self._state_dir, port.vpc_id)
        return namespace_path(name).exists() and port.tap in await masters(name)

    async def _plug_in(self, vpc_id: int, name: str) -> None:
        near, far = _mac(0x0A, vpc_id), _mac(0x0E, vpc_id)
        cable, held = vpc_cable_name(vpc_id), await devices(self._region)
        lines = [
            f"address replace {_NEAR}/32 dev {cable}",
            f"link set {cable} up",
            f"neigh replace {_FAR} lladdr {far} dev {cable} nud permanent",
        ]
        if cable in held and UPLINK not in await devices(name):
            lines.insert(0, f"link delete {cable}")
            del held[cable]
        if cable not in held:
            peer = f"type veth peer name {UPLINK} address {far} netns {name}"
            lines.insert(-3, f"link add {cable} address {near} {peer}")
        await batch("\n".join(lines), self._region)
        inside = (
            "link set lo up",
            f"address replace {METADATA[0]}/32 dev lo",
            f"address replace {_FAR}/32 dev {UPLINK}",
            f"link set {UPLINK} up",
            f"neigh replace {_NEAR} lladdr {near} dev {UPLINK} nud permanent",
            f"route replace default via {_NEAR} dev {UPLINK} onlink",
        )
        await batch("\n".join(inside), name)

    async def _make_subnet(self, name: str, link: VpcLink) -> None:
        """Addresses of it lead nowhere but for those of its guests."""
        bridge, network = subnet_name(link.subnet_id), link.interface.network
        lines = [
            f"address replace {link.gateway}/{network.prefixlen} dev {bridge}",
            f"link set {bridge} up",
        ]
        mac = gateway_mac(link.subnet_id)
        if bridge not in await devices(name):
            lines.insert(0, f"link add {bridge} address {mac} type bridge mcast_snooping 0")
        ports = await DISK.run(read_ports, self._directory)
        for port in ports:
            if port.subnet_id == link.subnet_id:
                lines += [f"route replace {each} metric {GUEST_METRIC}" for each in _leading(port)]
        lines.append(f"route replace unreachable {network}")
        await batch("\n".join(lines), name)
        await within(name, lambda: set_up_subnet(bridge))

    async def _admit(self, name: str, port: VpcPort) -> None:
        """Lead packets to a guest whose device is there."""
        bridge = subnet_name(port.subnet_id)
        lines = [f"neigh replace {port.address} lladdr {port.mac} dev {bridge} nud permanent"]
        lines += [f"route replace {each} metric {GUEST_METRIC}" for each in _leading(port)]
        await batch("\n".join(lines), name)
        entry = ("fdb", "replace", port.mac, "dev", port.tap, "master", "static")
        await run(_DOING, "bridge", "-n", name, *entry)
        if port.public is not None:
            await _apply(name, nat_rules(port.address, port.public))
            cable = vpc_cable_name(port.vpc_id)
            route = f"route replace {port.public}/32 via {_FAR} dev {cable} onlink"
            await batch(route, self._region)

    async def _undo(self, port: VpcPort) -> None:
        name = vpc_name(self._state_dir, port.vpc_id)
        if namespace_path(name).exists():
            await self._turn_away(name, port)
        await DISK.run(partial(forget_port, self._directory, port))
        left = {each.vpc_id for each in await DISK.run(read_ports, self._directory)}
        if port.vpc_id not in left and namespace_path(name).exists():
            if vpc_cable_name(port.vpc_id) in await devices(self._region):
                await batch(f"link delete {vpc_cable_name(port.vpc_id)}", self._region)
            await run(_DOING, "ip", "netns", "delete", name)

    async def _turn_away(self, name: str, port: VpcPort) -> None:
        await _apply(name, ROUTER_RULES + BASE + no_port_rules(port.tap))
        if port.public is not None:
            await _apply(name, no_nat_rules(port.address, port.public))
            cable = vpc_cable_name(port.vpc_id)
            if cable in await devices(self._region):
                await remove_if_there([f"route delete {port.public}/32 dev {cable}"], self._region)
        bridge = subnet_name(port.subnet_id)
        await forget_routes(reversed(_leading(port)), name)
        queue, neighbour = queue_of(port.tap), f"{port.address} dev {bridge}"
        await remove_if_there([f"link delete {queue}", f"neigh delete {neighbour}"], name)


async def _apply(name: str, rules: str) -> None:
    inside = f"--net={namespace_path(name)}"
    await run(_DOING, "nsenter", inside, "nft", "-f", "-", feed=rules)


def _leading(port: VpcPort) -> list[str]:
    """The routes to a guest."""
    device = subnet_name(port.subnet_id)
    ranges = (f"{each} via {port.address} dev {device}" for each in port.ranges)
    return [f"{port.address}/32 dev {device}", *ranges]


def gateway_mac(subnet_id: int) -> str:
    """The MAC address of a subnet's gateway: the same on all hosts, so that guests may move."""
    return _mac(0x12, subnet_id)


def _mac(first: int, number: int) -> str:
    """A locally administered address, so that guests may keep it whatever is attached."""
    octets = bytes([first]) + number.to_bytes(5, "big")
    return ":".join(f"{octet:02x}" for octet in octets)
