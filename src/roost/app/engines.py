"""Which engine serves which region: the catalogue's wish, the settings, and what works here."""

from collections.abc import Iterable, Mapping

from roost.app.groups import GROUPS
from roost.app.table import format_table
from roost.clock import Clock
from roost.core.catalog import Catalog
from roost.core.catalog.entries import RegionEntry
from roost.core.planes import Binding, Engine, Engines, Plane, Provider, Site
from roost.engines.mariadb.providers import PROVIDERS as MARIADB
from roost.engines.qemu.providers import PROVIDERS as QEMU
from roost.engines.seaweedfs.providers import PROVIDERS as SEAWEEDFS
from roost.engines.simulated.providers import PROVIDERS as SIMULATED
from roost.errors import OperatorError
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.firewalls.engine import FIREWALL_PLANE
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.settings import MAIN_HOST, Settings
from roost.store import Queries

PROVIDERS: tuple[Provider[Engine], ...] = (*QEMU, *MARIADB, *SEAWEEDFS, *SIMULATED)
"""Of a data plane the first real one is what the catalogue calls `local`."""

_PLANES = tuple(dict.fromkeys(provider.plane.name for provider in PROVIDERS))
"""In the order in which they are bound: volumes are for the guests of their region."""


_ON_EACH_HOST = (INSTANCE_PLANE.name, FIREWALL_PLANE.name, VOLUME_PLANE.name)
"""What other hosts than the main one have."""


class EngineUnavailableError(OperatorError):
    """The engine that is asked for, or that holds a region's guests, is not to be had here."""


async def bind_engines(settings: Settings, catalog: Catalog, clock: Clock) -> list[Binding[Engine]]:
    """Raises EngineUnavailableError when real engines are demanded and one cannot run."""
    bindings = list[Binding[Engine]]()
    planes = _PLANES if settings.host == MAIN_HOST else _ON_EACH_HOST
    for region in catalog.regions:
        bindings += await _bind(settings, catalog, clock, region, planes)
    return bindings


async def bind_plane(
    settings: Settings, catalog: Catalog, clock: Clock, plane: Plane[Engine], region_id: str
) -> list[Binding[Engine]]:
    """The engine of one region alone, of a plane that needs none of the others.

    Empty for a region that the catalogue does not have.
    """
    region = catalog.find_region(region_id)
    if region is None:
        return []
    return [await _choose(plane.name, _site(settings, catalog, clock, region, {}))]


async def keep_to_engines(db: Queries, engines: Engines) -> None:
    """Raises EngineUnavailableError where another engine than the one bound holds something.

    A region that has nothing of a data plane may change its engine freely.
    """
    for plane, in_use in GROUPS.holders:
        used = await in_use(db)
        for binding in engines.bindings_of(plane):
            for region, name in used:
                if region == binding.place and name != binding.engine.name:
                    raise EngineUnavailableError(
                        f"region {region} has {binding.plane} on the engine {name}, but would now"
                        f" get the engine {binding.engine.name}: {binding.why}"
                    )


async def _bind(
    settings: Settings,
    catalog: Catalog,
    clock: Clock,
    region: RegionEntry,
    planes: Iterable[str],
) -> list[Binding[Engine]]:
    bindings, bound = list[Binding[Engine]](), dict[str, str]()
    if unknown := region.engines.keys() - _PLANES:
        raise EngineUnavailableError(f"region {region.id}: there are no {', '.join(unknown)}")
    for plane in planes:
        binding = await _choose(plane, _site(settings, catalog, clock, region, bound))
        bindings.append(binding)
        bound[plane] = binding.engine.name
    return bindings


def _site(
    settings: Settings,
    catalog: Catalog,
    clock: Clock,
    region: RegionEntry,
    bound: Mapping[str, str],
) -> Site:
    clusters = catalog.entries.object_clusters
    domain = next((each.domain for each in clusters if each.region == region.id), None)
    return Site(region, settings, clock, bound, domain)


async def _choose(plane: str, site: Site) -> Binding[Engine]:
    settings, region = site.settings, site.region
    if plane not in region.engines and (own := _everywhere(plane)) is not None:
        return await _bind_own(own, site)
    wish = region.engine_of(plane)
    if wish == "simulated":
        return await _simulated(plane, site, "the catalogue says so")
    if settings.engines == "simulated":
        return await _simulated(plane, site, "only simulated engines are wanted")
    provider = _find(plane, wish, region)
    reason = await provider.check(site)
    if reason is None:
        engine, what = await provider.open(site)
        return Binding(plane, region.id, engine, provider.real, what)
    if settings.engines == "local":
        raise EngineUnavailableError(f"region {region.id}: {reason}")
    return await _simulated(plane, site, reason)


def _everywhere(plane: str) -> Provider[Engine] | None:
    return next((each for each in PROVIDERS if each.plane.name == plane and each.everywhere), None)


async def _bind_own(provider: Provider[Engine], site: Site) -> Binding[Engine]:
    """Whatever the region's other engines are."""
    reason = await provider.check(site)
    if reason is not None:
        return await _simulated(provider.plane.name, site, reason)
    engine, what = await provider.open(site)
    return Binding(provider.plane.name, site.region.id, engine, provider.real, what)


def _find(plane: str, wish: str, region: RegionEntry) -> Provider[Engine]:
    for provider in PROVIDERS:
        if provider.plane.name == plane and (provider.name == wish or wish == "local"):
            return provider
    raise EngineUnavailableError(f"region {region.id}: there is no engine {wish} for {plane}")


async def _simulated(plane: str, site: Site, why: str) -> Binding[Engine]:
    provider = _find(plane, "simulated", site.region)
    reason = await provider.check(site)
    if reason is not None:
        raise EngineUnavailableError(f"region {site.region.id}: {reason}")
    engine, _ = await provider.open(site)
    return Binding(plane, site.region.id, engine, False, why)


def describe(bindings: Iterable[Binding[Engine]]) -> str:
    """The start-up table: what is real, what is simulated, and why."""
    head = ("REGION", "DATA PLANE", "ENGINE", "WHY")
    rows = ((b.place, b.plane, "real" if b.real else "simulated", b.why) for b in bindings)
    return format_table(head, rows)
