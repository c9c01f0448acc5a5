"""The network of one region's guests: a namespace of the host with a bridge and a router.

It knows nothing that the kernel does not know, so that any process may take over at any time.
"""

import os
import shutil
import socket
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import structlog

from roost.core.engine import EngineError
from roost.engines.locks import locked
from roost.engines.qemu.host.programs import failure, run
from roost.engines.qemu.network.addressing import Addressing
from roost.engines.qemu.network.advertiser import ensure_advertiser, stop_advertiser
from roost.engines.qemu.network.announcing import Announcement, announce
from roost.engines.qemu.network.config import (
    BRIDGE,
    METADATA,
    NetworkConfig,
    network_name,
    tap_name,
    vlans_name,
    vpc_names,
)
from roost.engines.qemu.network.counting import (
    counted_guests,
    counting,
    guest_counters,
    no_guest_counters,
    read_traffic,
)
from roost.engines.qemu.network.host import overlap
from roost.engines.qemu.network.links import (
    are_closed,
    bring_to,
    close_pools,
    ensure_links,
    ensure_namespace,
    remove_if_there,
    remove_links,
    take_tap,
)
from roost.engines.qemu.network.metadata import listen, service_stands
from roost.engines.qemu.network.namespace import (
    identity,
    namespace_path,
    on_host,
    read_taps,
    set_up_bridge,
    set_up_forwarding,
    within,
)
from roost.engines.qemu.network.overlays import Overlays
from roost.engines.qemu.network.rules import BASE, FIREWALLS, SERVICE, guard
from roost.engines.qemu.network.shaping import queue_of
from roost.engines.qemu.network.spoofing import read_dropped
from roost.engines.qemu.network.uplink import HostUplink
from roost.engines.qemu.network.vlans import VlanSegments
from roost.engines.qemu.network.vpcs import VpcNetworks
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import (
    GuestAddresses,
    Link,
    PublicLink,
    Traffic,
    VlanLink,
    VpcLink,
)
from roost.resources.compute.overlay_engine import Overlay
from roost.threads import DISK

_DOING = "The network could not be set up"

_log = structlog.get_logger(__name__)


class GuestNetwork:
    """Public methods may be called again at any time, and from several processes at once."""

    def __init__(self, state_dir: Path, config: NetworkConfig) -> None:
        self._state_dir = state_dir
        self._directory = state_dir / "network"
        self._config = config
        self.name = network_name(state_dir)
        self._addressing = Addressing(self.name, self._directory / "guests")
        self._overlays = Overlays(state_dir, config)
        self._vlans = VlanSegments(state_dir, self._overlays)
        self._vpcs = VpcNetworks(state_dir, self._overlays)
        self._uplink = HostUplink(self.name, config)

    async def ensure(self) -> None:
        """Make or mend everything but the guests' own devices (40 ms)."""
        self._directory.mkdir(parents=True, exist_ok=True)
        async with locked(self._directory):
            if problem := await self.problem():
                raise EngineError(f"{_DOING}: {problem}")
            try:
                await ensure_namespace(self.name, set_up_forwarding)
            except OSError as error:
                raise failure(_DOING, error) from error
            await self._uplink.guard()
            await self._link()
            await within(self.name, set_up_bridge)
            if not await are_closed(self._config, self.name):
                await self._addressing.lead()
                await close_pools(self._config, self.name)
                await self._overlays.stretch_region()
            await self._apply(BASE)
            await self._apply(FIREWALLS + guard(self._config.private) + SERVICE)
            await self._apply(counting(self._config.private))
            await ensure_advertiser(self._directory, self.name, self._config.ipv6.network)
            await self._uplink.forward()

    async def _link(self) -> None:
        source = await self._uplink.source(await self._overlays.address())
        await ensure_links(self._state_dir, self._config, source)

    async def problem(self) -> str | None:
        """Why the network cannot be set up on this host, or None."""
        return await overlap(self._config.pools, self.name)

    async def attach(self, spec: InstanceSpec) -> list[int]:
        """The descriptors of the guest's network devices, eth0 first, which end with it.

        The rules that hold the guest to its addresses apply before its first frame.
        """
        await self.ensure()
        async with locked(self._directory):
            await self._vpcs.make_room(spec)
        taps: list[int] = []
        try:
            for number, link in enumerate(spec.links):
                taps.append(await self._attach(spec, number, link))
        except BaseException:
            for tap in taps:
                os.close(tap)
            raise
        return taps

    async def _attach(self, spec: InstanceSpec, number: int, link: Link) -> int:
        match link:
            case PublicLink():
                return await self._attach_public(spec)
            case VlanLink():
                async with locked(self._directory):
                    return await self._vlans.attach(spec.id, number, link)
            case VpcLink():
                async with locked(self._directory):
                    return await self._vpcs.attach(spec, number, link)

    async def _attach_public(self, spec: InstanceSpec) -> int:
        """It reaches nobody but the gateway, and gets what is for its address and for all."""
        await self._addressing.write(spec.addresses)
        await self._apply(guest_counters(spec.id))
        device = tap_name(spec.id)
        settings = (f"master {BRIDGE}", "type bridge_slave isolated on flood off")
        descriptor = await take_tap(self.name, device, settings, spec.network_out)
        try:
            await bring_to(self.name, device, spec.mac)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    async def announce(self, spec: InstanceSpec) -> None:
        """Tell the guest who its gateway is now, and the host's neighbours where the guest is.

        Nothing for the neighbours where the region has no way out.
        """
        inside = Announcement(self._config.gateways, router=True)
        guest = (each.interface.ip for each in spec.ipv4 if each.gateway is not None)
        natted = (link.public for link in spec.links if isinstance(link, VpcLink) and link.public)
        addresses = (*guest, *natted, *(() if spec.ipv6 is None else (spec.ipv6.ip,)))
        try:
            await within(self.name, partial(announce, BRIDGE, inside))
            for device in await self._uplink.devices():
                await on_host(partial(announce, device, Announcement(addresses)))
        except OSError as error:
            _log.warning("announcement_failed", guest=spec.id, error=str(error))

    async def release(self, compute_id: int) -> None:
        """Forget the guest."""
        if namespace_path(self.name).exists():
            await self._addressing.erase(compute_id)
            await self._apply(counting(self._config.private) + no_guest_counters(compute_id))
            await remove_if_there([f"link delete {queue_of(tap_name(compute_id))}"], self.name)
        if self._directory.exists():
            async with locked(self._directory):
                await self._vlans.release(compute_id)
                await self._vpcs.release(compute_id)

    async def readdress(self, guest: GuestAddresses) -> None:
        """Let an attached guest send and get exactly this; another one is left alone."""
        if not namespace_path(self.name).exists():
            return
        if guest.id in await within(self.name, read_taps):
            await self.ensure()
            await self._apply(guest_counters(guest.id))
            await self._addressing.write(guest)

    async def addresses(self) -> Mapping[int, GuestAddresses | None]:
        """The addresses of attached guests; None where the kernel has not what was written."""
        if not namespace_path(self.name).exists():
            return {}
        found = await self._addressing.read()
        stands = not found or (
            await within(self.name, service_stands) and await self._uplink.stands()
        )
        if not stands:
            return dict.fromkeys(found)
        counted = await within(self.name, counted_guests)
        return {key: each if key in counted else None for key, each in found.items()}

    async def set_overlay(self, overlay: Overlay) -> None:
        """Let networks reach exactly these hosts and guests elsewhere."""
        self._directory.mkdir(parents=True, exist_ok=True)
        async with locked(self._directory):
            before = await self._overlays.address()
            await self._overlays.set(overlay)
            if overlay.address != before and namespace_path(self.name).exists():
                await self._link()

    async def overlay(self) -> Overlay | None:
        """The overlay that was set; None when the kernel has something else."""
        if not self._directory.exists():
            return Overlay()
        async with locked(self._directory):
            return await self._overlays.get()

    def identity(self) -> str | None:
        """Another one after the network was made anew; None while there is none."""
        return identity(self.name)

    def vpcs(self) -> list[str]:
        """The networks of VPCs that have guests here."""
        return vpc_names(self._state_dir)

    async def listen(self, network: str) -> tuple[socket.socket, ...]:
        """At the addresses of the metadata service; none while another process does."""
        addresses = METADATA if network == self.name else METADATA[:1]
        try:
            return await within(network, lambda: listen(addresses))
        except OSError as error:
            raise failure("The metadata service could not be started", error) from error

    async def traffic(self) -> dict[int, Traffic]:
        """To and from each guest, by id; of none where there is no network."""
        try:
            return await within(self.name, lambda: read_traffic(self.name))
        except OSError:
            return {}

    async def dropped(self) -> Counter[str]:
        """Frames that filters of guests' devices kept back, by reason, since there are guests."""
        found = Counter[str]()
        for name in (self.name, vlans_name(self._state_dir), *vpc_names(self._state_dir)):
            with suppress(FileNotFoundError):
                found.update(await within(name, read_dropped))
        return found

    async def tear_down(self) -> None:
        """Remove all of it from the host."""
        if self._directory.exists() or namespace_path(self.name).exists():
            self._directory.mkdir(parents=True, exist_ok=True)
            async with locked(self._directory):
                await stop_advertiser(self._directory)
                await self._vlans.tear_down()
                await self._vpcs.tear_down()
                await self._overlays.tear_down()
                await remove_links(self.name)
                await self._uplink.remove()
                await DISK.run(shutil.rmtree, self._directory)

    async def _apply(self, rules: str) -> None:
        inside = f"--net={namespace_path(self.name)}"
        await run(_DOING, "nsenter", inside, "nft", "-f", "-", feed=rules)
