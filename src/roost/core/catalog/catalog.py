"""The catalogue in memory: what validators and job steps ask without a query."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from ipaddress import IPv6Network

from roost.core.catalog.entries import (
    Capability,
    DatabaseEngineEntry,
    DatabaseTypeEntry,
    Entries,
    ImageEntry,
    ObjectClusterEntry,
    PlanEntry,
    RegionEntry,
)

PRIVATE = "private/"
"""With which the ids of private images begin (spec A image private)."""

_CLASS_NEEDS = {"premium": "Premium Plans", "gpu": "GPU Computes"}


class Catalog:
    """What an operator offers. Only imported images are added while the process runs."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        self._regions = {region.id: region for region in entries.regions}
        self._types = {plan.id: plan for plan in entries.compute_types}
        self._images = {image.id: image for image in entries.images}
        self._database_engines = {engine.id: engine for engine in entries.database_engines}
        self._database_types = {plan.id: plan for plan in entries.database_types}
        self._clusters = {cluster.id: cluster for cluster in entries.object_clusters}
        self._has_image: dict[str, Callable[[str], bool]] = {}
        self._awaits_image: dict[str, Callable[[str], bool]] = {}

    def offering(self, served: Collection[Capability]) -> "Catalog":
        """A copy without capabilities that this build does not serve, in any region."""
        regions = [
            region.model_copy(
                update={"capabilities": [each for each in region.capabilities if each in served]}
            )
            for region in self.entries.regions
        ]
        return Catalog(self.entries.model_copy(update={"regions": regions}))

    @property
    def regions(self) -> list[RegionEntry]:
        return self.entries.regions

    def find_region(self, region_id: str) -> RegionEntry | None:
        return self._regions.get(region_id)

    def find_type(self, type_id: str) -> PlanEntry | None:
        return self._types.get(type_id)

    def find_database_engine(self, engine_id: str) -> DatabaseEngineEntry | None:
        return self._database_engines.get(engine_id)

    def find_database_type(self, type_id: str) -> DatabaseTypeEntry | None:
        return self._database_types.get(type_id)

    def find_cluster(self, cluster_id: str) -> ObjectClusterEntry | None:
        """A cluster of object storage."""
        return self._clusters.get(cluster_id)

    def find_cluster_of(self, region_id: str) -> ObjectClusterEntry | None:
        """The object cluster of a region."""
        return next((each for each in self._clusters.values() if each.region == region_id), None)

    def find_image(self, image_id: str) -> ImageEntry | None:
        """A public image."""
        return self._images.get(image_id)

    def has_kernel(self, kernel_id: str) -> bool:
        return any(kernel.id == kernel_id for kernel in self.entries.kernels)

    def type(self, type_id: str) -> PlanEntry:
        """Raises KeyError when there is no such plan."""
        return self._types[type_id]

    def ipv6_ranges(self, region_id: str) -> list[IPv6Network]:
        """Networks of which accounts get ranges."""
        return self._regions[region_id].ipv6_ranges

    def ipv6_network(self, region_id: str) -> IPv6Network:
        """The /64 of the region's guests; raises KeyError when there is no such region."""
        return self._regions[region_id].ipv6.cidr

    def offers(self, region_id: str, type_id: str) -> bool:
        """Whether instances of this plan can be created in the region."""
        region, plan = self.find_region(region_id), self.find_type(type_id)
        if region is None or plan is None:
            return False
        needed = _CLASS_NEEDS.get(plan.class_)
        has_class = needed is None or needed in region.capabilities
        return has_class and region.availability.get(type_id, True)

    def add_images(self, imported: Iterable[ImageEntry]) -> None:
        """Offer images beside the file's own, which go before them."""
        self._images = {i.id: i for i in (*imported, *self.entries.images)}

    def restricts_mail(self, account_created: datetime) -> bool:
        """Whether guests of such an account are kept from sending mail."""
        since = self.entries.mail_restricted_since
        return since is not None and account_created >= since

    def limit_images(
        self,
        region_id: str,
        has: Callable[[str], bool],
        awaits: Callable[[str], bool] = lambda _image_id: False,
    ) -> None:
        """Tell that the region starts guests only from images that its engine `has` on disk.

        Those that it `awaits` are offered too: their instances are made when they are there.
        """
        self._has_image[region_id] = has
        self._awaits_image[region_id] = awaits

    def awaits_image(self, region_id: str, image_id: str) -> bool:
        """Whether the image is on its way to the region, but not there yet."""
        awaits = self._awaits_image.get(region_id)
        return awaits is not None and awaits(image_id)

    def offers_image(self, region_id: str, image_id: str) -> bool:
        """Whether the region can start guests from an image; simulated ones know all.

        Of private images it does not say whose they are.
        """
        if region_id not in self._regions:
            return False
        if image_id not in self._images and not image_id.startswith(PRIVATE):
            return False
        has = self._has_image.get(region_id)
        return has is None or has(image_id) or self.awaits_image(region_id, image_id)
