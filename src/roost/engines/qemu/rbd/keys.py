"""A cephx user for each image that a guest's QEMU opens.

A QEMU that its guest has taken over can use what it was given: so that opens one image, lists
none, and cannot shut other clients out of the cluster.
"""

from dataclasses import dataclass

from roost.core.engine import EngineError
from roost.engines.qemu.rbd.cluster import Cluster

_DOING = "The storage cluster gives no key"


@dataclass(frozen=True, slots=True)
class Keys:
    """Every method may raise EngineError."""

    cluster: Cluster

    def user(self, name: str) -> str:
        """Of an image, without `client.`."""
        return f"{self.cluster.user}.{self.cluster.namespace}.{name}"

    async def get(self, name: str, image_id: str) -> str:
        """The key of the image's user, which is made where it is missing.

        One of an earlier image of this name may do other things, and is made anew.
        """
        words = (
            "auth",
            "get-or-create-key",
            f"client.{self.user(name)}",
            *self._caps(name, image_id),
        )
        try:
            return (await self.cluster.ceph(_DOING, *words)).strip()
        except EngineError:
            await self.drop(name)
            return (await self.cluster.ceph(_DOING, *words)).strip()

    async def drop(self, name: str) -> None:
        """Nothing happens when there is none."""
        await self.cluster.ceph(_DOING, "auth", "rm", f"client.{self.user(name)}")

    def _caps(self, name: str, image_id: str) -> tuple[str, ...]:
        """QEMU asks whether the namespace is there, librbd for settings of the pool."""
        pool = f"pool={self.cluster.pool}"
        objects = f"{pool} namespace={self.cluster.namespace} object_prefix"
        grants = (
            f"class rbd dir_state_assert {objects} rbd_directory",
            f"class rbd metadata_list {pool} object_prefix rbd_info",
            f"rx {objects} rbd_id.{name}",
            f"rwx {objects} rbd_header.{image_id}",
            f"rwx {objects} rbd_object_map.{image_id}",
            f"rwx {objects} rbd_data.{image_id}.",
        )
        return ("mon", "allow r", "osd", ", ".join(f"allow {grant}" for grant in grants))
