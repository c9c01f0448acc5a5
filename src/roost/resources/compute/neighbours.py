"""What compute asks of volumes, firewalls, VPCs, images and StackScripts: their packages rest on
this one, which never imports them."""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass

from roost.core.catalog.entries import ImageEntry
from roost.core.context import Context
from roost.core.instance_queries import InstanceFacts
from roost.errors import invalid
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.records import VpcAddressRow
from roost.services import Services
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class AttachedVolume:
    """A volume that an instance has."""

    id: int
    label: str
    persist_across_boots: bool
    """False: it goes when the instance goes off, and no config names it."""


class InstanceVolumes:
    """That there are none. Each method is called in a transaction that holds the instance's row."""

    async def attached(self, db: Queries, compute_id: int) -> list[AttachedVolume]:
        """Those that the engine holds, by id."""
        return []

    async def bootable(
        self, db: Queries, services: Services, compute_id: int
    ) -> list[AttachedVolume]:
        """The volumes that a guest has that boots now; what waits for the boot is plugged in
        later."""
        return []

    async def claim(
        self, db: Queries, services: Services, compute_id: int, volume_ids: Collection[int]
    ) -> None:
        """Attach volumes that a config of the instance is to name; those it has already stay.

        Raises ApiError 400 for one that is not the account's, in another region, about to be
        detached, attached to another instance, or one too many for the instance's memory.
        """
        for volume_id in volume_ids:
            raise invalid(f"Volume {volume_id} does not exist", "devices")


@dataclass(frozen=True, slots=True)
class Host:
    """An instance that is to have interfaces in VPCs."""

    id: int
    region: str
    new: bool = False
    """Whether it is being made: nobody can know its public address yet."""


@dataclass(frozen=True, slots=True)
class WantedPlace:
    """What somebody asks for an interface."""

    field: str
    """Of the body, with a dot behind it unless it is the body itself."""
    subnet_id: int
    address: str | None
    """None: any."""
    nat_1_1: str | None
    """A public address, or `any`."""
    ip_ranges: Sequence[str]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an interface is."""

    vpc_id: int
    subnet_id: int
    address: str
    """With the prefix length of the subnet."""
    nat_1_1: str | None
    ip_ranges: Sequence[str]


@dataclass(frozen=True, slots=True)
class Nat:
    """The address in a VPC that a public one stands for."""

    address: str
    subnet_id: int
    vpc_id: int


class InstanceVpcs:
    """That there are none."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        """The labels of those subnets whose VPCs the account has and the caller may change.

        Raises 403, as `Reference.find` does.
        """
        return {}

    async def place(
        self,
        context: Context,
        host: Host,
        wanted: Sequence[WantedPlace],
        without: int | None = None,
    ) -> list[Place]:
        """Addresses for interfaces of one config, which nobody else gets before they are written.

        `without` is an interface that is being changed. Raises 400 with all that cannot be.
        """
        return []

    async def routes(self, db: Queries, vpc_ids: Collection[int]) -> Mapping[int, Sequence[str]]:
        """The networks of the subnets of VPCs."""
        return {}

    async def addresses_of(self, db: Queries, compute_id: int) -> list[VpcAddressRow]:
        """Those that an instance has in VPCs, and the networks that are routed to it there."""
        return []

    async def nat_of(self, db: Queries, compute_id: int, address: str) -> Nat | None:
        """What one of an instance's public addresses stands for."""
        return None

    async def natted(self, db: Queries, compute_ids: Collection[int]) -> Set[tuple[int, str]]:
        """The public addresses of instances that stand for one in a VPC, with their instance."""
        return frozenset()


class InstanceFirewalls:
    """That there are none."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        """The labels of those that the account has and the caller may change.

        Raises 401 or 403, as `Reference.find` does.
        """
        return {}

    async def put_behind(
        self, context: Context, compute_id: int, label: str, firewall_id: int
    ) -> None:
        """Put a new instance behind a firewall. Raises 400 when that is gone."""
        raise invalid("firewall_id is not valid", "firewall_id")


class InstanceImages:
    """That no account has images of its own."""

    async def find(self, context: Context, ids: Collection[str]) -> Mapping[str, ImageEntry]:
        """What disks start as, of private images that the account has.

        Raises 403 for a restricted user who may not use one, 400 for one that is not available.
        """
        return {}

    async def keep(
        self, context: Context, instance: InstanceFacts, disk: DiskSpec, label: str
    ) -> int | None:
        """The number of the image that is kept of a disk when its instance is deleted, if any.

        `label`: the disk's.
        """
        return None

    async def call_off(self, context: Context, compute_id: int) -> None:
        """What was being made of its disks is not made any more: its jobs have been ended."""

    async def set_aside(
        self, services: Services, instance: InstanceFacts, disk: DiskSpec, number: int
    ) -> None:
        """Save the disk, while no transaction is open. Raises EngineError: none can be kept."""

    async def discard(self, services: Services, instance: InstanceFacts, number: int) -> None:
        """Remove what was set aside, while no transaction is open. Raises EngineError."""

    async def forget(self, db: Queries, number: int) -> None:
        """No image is kept after all."""

    async def finish(
        self, db: Queries, services: Services, instance: InstanceFacts, number: int
    ) -> None:
        """The instance is gone when the transaction ends."""


class InstanceMaintenance:
    """That none is planned."""

    async def begin_migration(self, context: Context, instance: InstanceFacts) -> bool:
        """Move an instance, which the caller holds, now instead of later; False when it stays."""
        return False


@dataclass(frozen=True, slots=True)
class Question:
    """What a StackScript asks whoever deploys it."""

    name: str
    default: str | None
    """The answer of whoever gives none; None: there must be one."""
    one_of: Sequence[str] | None
    many_of: Sequence[str] | None
    """The possible answers, of which one or some are chosen; None: any."""


@dataclass(frozen=True, slots=True)
class StackScript:
    """What runs at the first boot of an instance."""

    text: str
    images: Collection[str] | None
    """The ids of those that it is made for; None: all."""
    questions: Sequence[Question]


class InstanceStackScripts:
    """That there are none."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, StackScript]:
        """Public ones, and those of the account.

        Raises 401 or 403 for private ones, as `Reference.find` does.
        """
        return {}

    async def deploy(self, context: Context, compute_id: int, stackscript_id: int) -> StackScript:
        """One that an instance is going to run, which is counted. Raises 400 when it is gone."""
        raise invalid("stackscript_id is not valid", "stackscript_id")
