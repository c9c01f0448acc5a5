"""Which engine serves which region: the catalogue's wish, the settings, and what works here."""

from collections.abc import Iterable, Iterator, Mapping

from roost.app.table import format_table
from roost.clock import Clock
from roost.core.catalog import Catalog
from roost.core.catalog.entries import RegionEntry
from roost.core.planes import Binding, Engine, Plane, Provider, Site
from roost.engines.seaweedfs.providers import PROVIDERS as SEAWEEDFS
from roost.errors import OperatorError
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.databases.engine import PLANES as DATABASE_PLANES
from roost.resources.firewalls.engine import FIREWALL_PLANE
from roost.resources.nodebalancers.engine import BALANCER_PLANE
from roost.resources.object_storage.engine import OBJECT_PLANE
from roost.resources.volumes.engine import VOLUME_PLANE
from roost.settings import MAIN_HOST, Settings

_ON_EACH_HOST = (
    INSTANCE_PLANE.name,
    FIREWALL_PLANE.name,
    VOLUME_PLANE.name,
    BALANCER_PLANE.name,
)
"""What other hosts than the main one have."""

_PLANES = (
    *_ON_EACH_HOST,
    *(plane.name for plane in DATABASE_PLANES.values()),
    OBJECT_PLANE.name,
)
"""In the order in which they are bound: volumes are for the guests of their region."""


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
    return next((each for each in SEAWEEDFS if each.plane.name == plane and each.everywhere), None)


async def _bind_own(provider: Provider[Engine], site: Site) -> Binding[Engine]:
    """Whatever the region's other engines are."""
    reason = await provider.check(site)
    if reason is not None:
        return await _simulated(provider.plane.name, site, reason)
    engine, what = await provider.open(site)
    return Binding(provider.plane.name, site.region.id, engine, provider.real, what)


def _find(plane: str, wish: str, region: RegionEntry) -> Provider[Engine]:
    for provider in _providers(wish):
        if provider.plane.name == plane and (provider.name == wish or wish == "local"):
            return provider
    raise EngineUnavailableError(f"region {region.id}: there is no engine {wish} for {plane}")


def _providers(wish: str) -> Iterator[Provider[Engine]]:
    """The providers that a wish names; the first real one of a plane is `local` in catalogues.

    Engines are imported when somebody wants them: all of them take 100 ms and 8 MB.
    """
    if wish == "simulated":
        from roost.engines.simulated.providers import PROVIDERS as SIMULATED

        yield from SIMULATED
        return
    from roost.engines.mariadb.providers import PROVIDERS as MARIADB
    from roost.engines.postgresql.providers import PROVIDERS as POSTGRESQL
    from roost.engines.qemu.providers import PROVIDERS as QEMU

    yield from (*QEMU, *MARIADB, *POSTGRESQL, *SEAWEEDFS)


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
