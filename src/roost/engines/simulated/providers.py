"""What simulated regions are bound to: on every machine, for guests that are simulated too."""

from pathlib import Path

from roost.core.planes import Engine, Provider, Site
from roost.engines.simulated.databases import SimulatedDatabases
from roost.engines.simulated.firewalls import SimulatedFirewalls
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.nodebalancers import SimulatedBalancers
from roost.engines.simulated.objects import SimulatedObjects
from roost.engines.simulated.volumes import SimulatedVolumes
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.resources.databases.engine import PLANES, DatabaseEngine, KindName
from roost.resources.firewalls.engine import FIREWALL_PLANE, FirewallEngine
from roost.resources.nodebalancers.engine import BALANCER_PLANE, BalancerEngine
from roost.resources.object_storage.engine import OBJECT_PLANE, ObjectEngine
from roost.resources.volumes.engine import VOLUME_PLANE, VolumeEngine


async def _check(_site: Site) -> None:
    """It runs everywhere."""


async def _open_instances(site: Site) -> tuple[InstanceEngine, str]:
    latency = site.settings.simulated_latency
    return SimulatedInstances(_directory(site), latency, site.clock), "simulated"


async def _check_volumes(site: Site) -> str | None:
    guests = site.bound[INSTANCE_PLANE.name]
    if guests == SimulatedInstances.name:
        return None
    return f"guests of the engine {guests} cannot use simulated volumes"


async def _open_volumes(site: Site) -> tuple[VolumeEngine, str]:
    return SimulatedVolumes(_directory(site), site.settings.simulated_latency), "simulated"


def _databases(kind: KindName) -> Provider[DatabaseEngine]:
    async def open_databases(site: Site) -> tuple[DatabaseEngine, str]:
        latency = site.settings.simulated_latency
        zone = f"{site.region.id}.{site.settings.databases_domain}"
        return SimulatedDatabases(_directory(site), latency, zone, site.clock, kind), "simulated"

    return Provider(PLANES[kind], SimulatedDatabases.name, False, _check, open_databases)


async def _check_firewalls(site: Site) -> str | None:
    guests = site.bound[INSTANCE_PLANE.name]
    if guests == SimulatedInstances.name:
        return None
    return f"guests of the engine {guests} send real packets"


async def _open_firewalls(site: Site) -> tuple[FirewallEngine, str]:
    return SimulatedFirewalls(_directory(site), site.settings.simulated_latency), "simulated"


async def _open_balancers(site: Site) -> tuple[BalancerEngine, str]:
    return SimulatedBalancers(_directory(site), site.settings.simulated_latency), "simulated"


async def _open_objects(site: Site) -> tuple[ObjectEngine, str]:
    return SimulatedObjects(_directory(site), site.settings.simulated_latency), "simulated"


def _directory(site: Site) -> Path:
    return site.settings.state / "simulated" / site.region.id


PROVIDERS: tuple[Provider[Engine], ...] = (
    Provider(INSTANCE_PLANE, SimulatedInstances.name, False, _check, _open_instances),
    Provider(FIREWALL_PLANE, SimulatedFirewalls.name, False, _check_firewalls, _open_firewalls),
    Provider(VOLUME_PLANE, SimulatedVolumes.name, False, _check_volumes, _open_volumes),
    _databases("mysql"),
    _databases("postgresql"),
    Provider(BALANCER_PLANE, SimulatedBalancers.name, False, _check, _open_balancers),
    Provider(OBJECT_PLANE, SimulatedObjects.name, False, _check, _open_objects),
)
