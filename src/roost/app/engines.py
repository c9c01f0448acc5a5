"""Which engine serves which region: the catalogue's wish, the settings, and what works here."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path
from typing import Generic, TypeVar

from roost.app.images import image_store
from roost.app.table import format_table
from roost.clock import Clock
from roost.core.catalog import Catalog
from roost.core.catalog.entries import RegionEntry
from roost.engines.qemu.instances import QemuInstances
from roost.engines.qemu.kvm import accelerator
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.prerequisites import check
from roost.engines.qemu.volumes import QemuVolumes
from roost.engines.simulated.instances import SimulatedInstances
from roost.engines.simulated.volumes import SimulatedVolumes
from roost.resources.compute import engine_queries as compute
from roost.resources.compute.engine import InstanceEngine
from roost.resources.volumes import engine_queries as volumes
from roost.resources.volumes.engine import VolumeEngine
from roost.settings import Settings
from roost.store import Queries

_Engine = TypeVar("_Engine", bound=InstanceEngine | VolumeEngine, covariant=True)
Row = tuple[str, str, str, str]
"""Of the start-up table."""


@dataclass(frozen=True, slots=True)
class Binding(Generic[_Engine]):
    """The engine of a region's data plane, and why it is this one."""

    region: str
    plane: str
    engine: _Engine
    real: bool
    why: str


@dataclass(frozen=True, slots=True)
class Bindings:
    """The engines of all regions, by data plane."""

    instances: tuple[Binding[InstanceEngine], ...]
    volumes: tuple[Binding[VolumeEngine], ...]

    def all(self) -> list[Binding[InstanceEngine | VolumeEngine]]:
        """By region."""
        pairs = zip(self.instances, self.volumes, strict=True)
        return [binding for pair in pairs for binding in pair]


class EngineUnavailableError(Exception):
    """The engine that is asked for, or that holds a region's guests, is not to be had here."""


async def bind_engines(settings: Settings, catalog: Catalog, clock: Clock) -> Bindings:
    """Raises EngineUnavailableError when real engines are demanded and one cannot run."""
    pairs = [await _bind(settings, clock, region) for region in catalog.regions]
    return Bindings(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs))


async def keep_to_engines(db: Queries, bindings: Bindings) -> None:
    """Raises EngineUnavailableError where another engine than the one bound holds something.

    A region without instances and volumes may change its engine freely.
    """
    _keep(bindings.instances, await compute.engines_in_use(db))
    _keep(bindings.volumes, await volumes.engines_in_use(db))


def _keep(
    bindings: Iterable[Binding[InstanceEngine | VolumeEngine]], used: list[tuple[str, str]]
) -> None:
    for binding in bindings:
        own = (binding.region, binding.engine.name)
        for region, name in used:
            if region == binding.region and (region, name) != own:
                raise EngineUnavailableError(
                    f"region {region} has {binding.plane} on the engine {name}, but would now get"
                    f" the engine {binding.engine.name}: {binding.why}"
                )


_Pair = tuple[Binding[InstanceEngine], Binding[VolumeEngine]]


async def _bind(settings: Settings, clock: Clock, region: RegionEntry) -> _Pair:
    if region.engine == "simulated":
        return _simulated(settings, clock, region, "the catalogue says so")
    if settings.engines == "simulated":
        return _simulated(settings, clock, region, "only simulated engines are wanted")
    directory = settings.state / "qemu" / region.id
    reason = await check(directory, _network(region))
    if reason is None:
        return await _real(settings, directory, region)
    if settings.engines == "local":
        raise EngineUnavailableError(f"region {region.id}: {reason}")
    return _simulated(settings, clock, region, reason)


async def _real(settings: Settings, directory: Path, region: RegionEntry) -> _Pair:
    kind = await accelerator()
    dns = region.resolvers
    engine = QemuInstances(
        directory, image_store(settings), _network(region), kind, (*dns.ipv4, *dns.ipv6)
    )
    return (
        Binding(region.id, "instances", engine, True, f"QEMU with {kind.upper()}"),
        Binding(region.id, "volumes", QemuVolumes(directory), True, "files for QEMU"),
    )


def _simulated(settings: Settings, clock: Clock, region: RegionEntry, why: str) -> _Pair:
    directory, latency = settings.state / "simulated" / region.id, settings.simulated_latency
    engine = SimulatedInstances(directory, latency, clock)
    return (
        Binding(region.id, "instances", engine, False, why),
        Binding(region.id, "volumes", SimulatedVolumes(directory, latency), False, why),
    )


def _network(region: RegionEntry) -> NetworkConfig:
    gateways = ((pool.gateway, pool.cidr.prefixlen) for pool in region.public_ipv4)
    return NetworkConfig(
        ipv4=tuple(IPv4Interface(gateway) for gateway in gateways),
        ipv6=IPv6Interface((region.ipv6.gateway, region.ipv6.cidr.prefixlen)),
    )


def describe(
    bindings: Iterable[Binding[InstanceEngine | VolumeEngine]], others: Iterable[Row]
) -> str:
    """The start-up table: what is real, what is simulated, and why."""
    head = ("REGION", "DATA PLANE", "ENGINE", "WHY")
    rows = ((b.region, b.plane, "real" if b.real else "simulated", b.why) for b in bindings)
    return format_table(head, [*rows, *others])
