"""Which engine serves which region: the catalogue's wish, the settings, and what works here."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path

from roost.app.images import image_store
from roost.app.table import format_table
from roost.clock import Clock
from roost.engines.qemu.instances import QemuInstances
from roost.engines.qemu.kvm import accelerator
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.prerequisites import check
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.catalog import Catalog
from roost.resources.catalog.entries import RegionEntry
from roost.resources.compute import queries
from roost.resources.compute.engine import InstanceEngine
from roost.settings import Settings
from roost.store import Queries

Row = tuple[str, str, str, str]
"""Of the start-up table."""


@dataclass(frozen=True, slots=True)
class Binding:
    """The engine of a region's data plane, and why it is this one."""

    region: str
    plane: str
    engine: InstanceEngine
    real: bool
    why: str


class EngineUnavailableError(Exception):
    """The engine that is asked for, or that holds a region's guests, is not to be had here."""


async def bind_engines(settings: Settings, catalog: Catalog, clock: Clock) -> list[Binding]:
    """Raises EngineUnavailableError when real engines are demanded and one cannot run."""
    return [await _bind(settings, clock, region) for region in catalog.regions]


async def keep_to_engines(db: Queries, bindings: Iterable[Binding]) -> None:
    """Raises EngineUnavailableError where another engine than the one bound holds guests.

    A region without instances may change its engine freely.
    """
    used = await queries.engines_in_use(db)
    for binding in bindings:
        own = (binding.region, binding.engine.name)
        for region, name in used:
            if region == binding.region and (region, name) != own:
                raise EngineUnavailableError(
                    f"region {region} has instances on the engine {name}, but would now get the"
                    f" engine {binding.engine.name}: {binding.why}"
                )


async def _bind(settings: Settings, clock: Clock, region: RegionEntry) -> Binding:
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


async def _real(settings: Settings, directory: Path, region: RegionEntry) -> Binding:
    kind = await accelerator()
    dns = region.resolvers
    engine = QemuInstances(
        directory, image_store(settings), _network(region), kind, (*dns.ipv4, *dns.ipv6)
    )
    return Binding(region.id, "instances", engine, True, f"QEMU with {kind.upper()}")


def _simulated(settings: Settings, clock: Clock, region: RegionEntry, why: str) -> Binding:
    directory = settings.state / "simulated" / region.id
    engine = SimulatedInstances(directory, settings.simulated_latency, clock)
    return Binding(region.id, "instances", engine, False, why)


def _network(region: RegionEntry) -> NetworkConfig:
    gateways = ((pool.gateway, pool.cidr.prefixlen) for pool in region.public_ipv4)
    return NetworkConfig(
        ipv4=tuple(IPv4Interface(gateway) for gateway in gateways),
        ipv6=IPv6Interface((region.ipv6.gateway, region.ipv6.cidr.prefixlen)),
    )


def describe(bindings: Iterable[Binding], others: Iterable[Row]) -> str:
    """The start-up table: what is real, what is simulated, and why."""
    head = ("REGION", "DATA PLANE", "ENGINE", "WHY")
    rows = ((b.region, b.plane, "real" if b.real else "simulated", b.why) for b in bindings)
    return format_table(head, [*rows, *others])
