"""VLANs of a region: bridges in a namespace without addresses, routes or a way out.

A bridge is a VLAN as long as a guest is in it. Nothing is filtered but foreign MAC addresses and
what has no rules: addresses inside are the guests' own affair.
"""

from pathlib import Path

from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.config import side_tap_name, vlan_bridge_name, vlans_name
from roost.engines.qemu.network.host import masters
from roost.engines.qemu.network.links import batch, ensure_namespace, take_tap
from roost.engines.qemu.network.namespace import namespace_path, set_up_silence
from roost.engines.qemu.network.overlays import Overlays
from roost.engines.qemu.network.rules import BASE, no_port_rules, port_rules, refused
from roost.resources.compute.network_engine import VlanLink

MAX_LINKS = 3
_DOING = "The VLAN could not be set up"


class VlanSegments:
    """Callers hold the lock of the region's network."""

    def __init__(self, state_dir: Path, overlays: Overlays) -> None:
        self.name = vlans_name(state_dir)
        self._overlays = overlays

    async def attach(self, compute_id: int, number: int, link: VlanLink) -> int:
        """The descriptor of the guest's eth`number`, which ends with it; in no other VLAN."""
        await ensure_namespace(self.name, set_up_silence)
        bridge, tap = vlan_bridge_name(link.vlan_id), side_tap_name(compute_id, number)
        lines = [f"link set {bridge} up"]
        if bridge not in await masters(self.name):
            lines.insert(0, f"link add {bridge} type bridge mcast_snooping 0")
        lines += [f"link delete {name}" for name in await self._unused(besides=bridge)]
        await batch("\n".join(lines), self.name)
        await self._overlays.stretch_vlan(link.vlan_id)
        await self._apply(BASE + port_rules(tap, _rules(link, tap)))
        return await take_tap(self.name, tap, (f"master {bridge}",))

    async def release(self, compute_id: int) -> None:
        """Drop the guest's rules, and the bridges that nobody uses."""
        if not namespace_path(self.name).exists():
            return
        taps = (side_tap_name(compute_id, number) for number in range(MAX_LINKS))
        await self._apply(BASE + "".join(map(no_port_rules, taps)))
        if unused := await self._unused():
            await batch("\n".join(f"link delete {name}" for name in unused), self.name)

    async def tear_down(self) -> None:
        if namespace_path(self.name).exists():
            await run("The VLANs could not be removed", "ip", "netns", "delete", self.name)

    async def _unused(self, besides: str | None = None) -> list[str]:
        """Bridges that no guest is in, and their tunnels."""
        found = await masters(self.name)
        used = {master for name, master in found.items() if name.startswith("tap")}
        bridges = {name for name in found if name.startswith("vlan")} - used - {besides}
        return [name for name, master in found.items() if name in bridges or master in bridges]

    async def _apply(self, rules: str) -> None:
        inside = f"--net={namespace_path(self.name)}"
        await run(_DOING, "nsenter", inside, "nft", "-f", "-", feed=rules)


def _rules(link: VlanLink, device: str) -> tuple[str, ...]:
    return (
        f"ether saddr != {link.mac} {refused(device, 'mac')}",
        f"arp saddr ether != {link.mac} {refused(device, 'arp')}",
        "accept",
    )
