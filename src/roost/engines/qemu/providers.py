"""What regions are bound to whose guests are QEMU processes of this host."""

from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path

from roost.core.catalog.entries import RegionEntry
from roost.core.planes import Provider, Site
from roost.engines.qemu.balancers.engine import HaproxyBalancers
from roost.engines.qemu.balancers.server import program as haproxy
from roost.engines.qemu.host.kvm import accelerator
from roost.engines.qemu.images.store import ImageStore
from roost.engines.qemu.instances import QemuInstances
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.engines import NftablesFirewalls
from roost.engines.qemu.prerequisites import check
from roost.engines.qemu.rbd.cluster import Cluster, missing_packages
from roost.engines.qemu.volumes.engine import QemuVolumes
from roost.engines.qemu.volumes.rbd_engine import RbdVolumes
from roost.engines.qemu.volumes.rbd_source import RbdSource
from roost.engines.qemu.volumes.sources import VolumeSource
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.resources.firewalls.engine import FIREWALL_PLANE, FirewallEngine
from roost.resources.nodebalancers.engine import BALANCER_PLANE, BalancerEngine
from roost.resources.volumes.engine import VOLUME_PLANE, VolumeEngine
from roost.settings import MAIN_HOST
from roost.threads import DISK


async def _check_instances(site: Site) -> str | None:
    return await check(_directory(site), _network(site.region))


async def _open_instances(site: Site) -> tuple[InstanceEngine, str]:
    kind, resolvers = await accelerator(), site.region.resolvers
    engine = QemuInstances(
        _directory(site),
        ImageStore.of(site.settings),
        _network(site.region),
        kind,
        (*resolvers.ipv4, *resolvers.ipv6),
        _volume_source(site),
    )
    return engine, f"QEMU with {kind.upper()}"


async def _check_volumes(site: Site) -> str | None:
    guests = site.bound[INSTANCE_PLANE.name]
    return None if guests == QemuInstances.name else f"its guests are {guests}"


async def _open_volumes(site: Site) -> tuple[VolumeEngine, str]:
    return QemuVolumes(_directory(site)), "files for QEMU"


async def _check_images(site: Site) -> str | None:
    if site.settings.host != MAIN_HOST:
        return "only the main host has volumes of a storage cluster"
    if missing := missing_packages():
        return f"these packages are not installed: {', '.join(missing)}"
    if not await DISK.run(Path(site.region.ceph.conf).is_file):
        return f"there is no {site.region.ceph.conf}"
    return await _check_volumes(site)


async def _open_images(site: Site) -> tuple[VolumeEngine, str]:
    engine = RbdVolumes(_directory(site), _cluster(site.region))
    return engine, f"RBD images in Ceph's pool {site.region.ceph.pool}"


def _volume_source(site: Site) -> VolumeSource | None:
    """None: files of the host."""
    if site.region.engine_of(VOLUME_PLANE.name) != RbdVolumes.name:
        return None
    return RbdSource(_directory(site).resolve(), _cluster(site.region))


def _cluster(region: RegionEntry) -> Cluster:
    entry = region.ceph
    return Cluster(Path(entry.conf), entry.user, entry.pool, region.id)


async def _check_firewalls(site: Site) -> str | None:
    guests = site.bound[INSTANCE_PLANE.name]
    return None if guests == QemuInstances.name else f"its guests are {guests}"


async def _open_firewalls(site: Site) -> tuple[FirewallEngine, str]:
    return NftablesFirewalls(_directory(site), _network(site.region)), "nftables"


async def _check_balancers(site: Site) -> str | None:
    guests = site.bound[INSTANCE_PLANE.name]
    if guests != QemuInstances.name:
        return f"its guests are {guests}"
    return None if haproxy() else "this package is not installed: haproxy"


async def _open_balancers(site: Site) -> tuple[BalancerEngine, str]:
    return HaproxyBalancers(_directory(site), _network(site.region)), "HAProxy"


def _directory(site: Site) -> Path:
    return site.settings.state / "qemu" / site.region.id


def _network(region: RegionEntry) -> NetworkConfig:
    gateways = ((pool.gateway, pool.cidr.prefixlen) for pool in region.public_ipv4)
    return NetworkConfig(
        ipv4=tuple(IPv4Interface(gateway) for gateway in gateways),
        ipv6=IPv6Interface((region.ipv6.gateway, region.ipv6.cidr.prefixlen)),
        private=tuple(region.private_ipv4),
        ranges=tuple(region.ipv6_ranges),
        uplink=region.uplink,
        host_ports=tuple(region.host_ports),
        resolvers=(*region.resolvers.ipv4, *region.resolvers.ipv6),
    )


PROVIDERS = (
    Provider(INSTANCE_PLANE, QemuInstances.name, True, _check_instances, _open_instances),
    Provider(FIREWALL_PLANE, NftablesFirewalls.name, True, _check_firewalls, _open_firewalls),
    Provider(BALANCER_PLANE, HaproxyBalancers.name, True, _check_balancers, _open_balancers),
    Provider(VOLUME_PLANE, QemuVolumes.name, True, _check_volumes, _open_volumes),
    Provider(VOLUME_PLANE, RbdVolumes.name, True, _check_images, _open_images),
)
