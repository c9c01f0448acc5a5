"""What compute needs from a data plane that runs guests, and keeps their disks and backups.

An implementation keeps no truth of its own about what should exist: every call that makes
something carries the whole specification. All methods are idempotent, so a repeated call after a
crash is harmless, and may raise EngineError; names on the host derive from ids (`compute-100001`,
`disk-100001`, `backup-100001`). A disk belongs to the guest of one instance and goes with it; a
backup outlives changes to its instance's disks.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface
from typing import Literal, Protocol, TypeAlias, get_args

from roost.core.engine import EngineError, Health, Host
from roost.core.planes import Plane


class NoDisksError(EngineError):
    """A guest cannot start: what it is to boot from, or a device of it, is gone."""


class TooLargeError(EngineError):
    """A disk holds more than an image may."""


class MountedError(EngineError):
    """A volume cannot be taken from a guest that still uses it."""


Filesystem = Literal["raw", "swap", "ext3", "ext4", "initrd"]

Progress = Callable[[int], Awaitable[None]]
"""Told how far a copy is, 0 to 100; may be called as often as one likes."""


@dataclass(frozen=True, slots=True)
class DiskSpec:
    """A disk as it should be."""

    id: int
    compute_id: int
    size: int
    """MB"""
    filesystem: Filesystem
    image: str | None = None
    """The image's id in the catalogue, such as `roost/debian12`, that it starts as."""

    @property
    def name(self) -> str:
        return f"disk-{self.id}"


@dataclass(frozen=True, slots=True)
class DiskState:
    """A disk as it is."""

    id: int
    compute_id: int
    size: int
    """MB; 0 of one that is only begun."""


class DiskEngine(Protocol):
    """The disks of one data plane's guests."""

    async def make(self, disk: DiskSpec) -> None:
        """Make a disk: a copy of its image, or empty with its file system. One that is there stays.

        The image of a disk must fit: EngineError.
        """

    async def resize(self, disk: DiskSpec) -> None:
        """Bring a disk to the size of `disk`, its ext3 or ext4 file system with it.

        EngineError while its guest runs with it, and when what it holds needs more room.
        """

    async def copy(self, source: DiskSpec, target: DiskSpec, progress: Progress) -> None:
        """Make `target`, of the same size or larger, with the content of `source`.

        A running guest's disk is copied as of one moment. A `target` that is there stays.
        """

    async def delete(self, compute_id: int, disk_id: int) -> None:
        """Remove a disk. EngineError while its guest runs with it."""

    async def inspect(self, compute_id: int, disk_id: int) -> DiskState | None:
        """None when nothing of it exists."""


@dataclass(frozen=True, slots=True)
class BackupState:
    """A backup as it is: the ids that its disks had."""

    id: int
    disks: tuple[int, ...]


class BackupEngine(Protocol):
    """Copies of disks, kept apart from them."""

    async def save(self, backup_id: int, disks: Sequence[DiskSpec], progress: Progress) -> None:
        """Keep copies of an instance's disks as of one moment, whether its guest runs or not.

        A backup that is complete stays as it is; one that was only begun is made anew.
        """

    async def restore(
        self, backup_id: int, disk_id: int, target: DiskSpec, progress: Progress
    ) -> None:
        """Make `target` with what disk `disk_id` held, of the same size or larger."""

    async def delete(self, backup_id: int) -> None:
        """Remove a backup, whole or begun."""

    async def list(self) -> list[BackupState]:
        """All complete backups that this engine holds, by id."""


def private_image(number: int) -> str:
    """The id of a private image, as `DiskSpec.image` names it (spec A image private)."""
    return f"private/{number}"


class ImageEngine(Protocol):
    """Private images: what was on a disk, for disks of other guests to start as."""

    async def capture(
        self, number: int, disk: DiskSpec, most: int, *, cloud_init: bool, progress: Progress
    ) -> int:
        """Make an image of a disk as of one moment, whether its guest runs or not.

        Returns the MB that a disk needs at least which is to start as the image. An image that is
        complete stays as it is; one that was only begun is made anew. TooLargeError when the disk
        holds more than `most` MB. `cloud_init`: whether the image takes user data of any format.
        """

    async def delete(self, number: int) -> None:
        """Remove an image, whole or begun. Disks that started as it stay."""

    async def list(self) -> list[int]:
        """The numbers of all complete private images that this engine can use, in order."""


@dataclass(frozen=True, slots=True)
class GuestAddress:
    """A static IPv4 address of a guest with its prefix; `gateway` is None for private ones."""

    interface: IPv4Interface
    gateway: IPv4Address | None


@dataclass(frozen=True, slots=True)
class GuestSetup:
    """What the guest applies when it boots from its root disk (cloud-init NoCloud)."""

    hostname: str
    root_password_hash: str | None
    """crypt(3) text, as in /etc/shadow."""
    authorized_keys: tuple[str, ...]
    user_data: bytes | None
    password_revision: int = 0
    """Grows with each reset of the root password, which the next boot then applies again."""


@dataclass(frozen=True, slots=True)
class GuestAddresses:
    """What a guest may send from, and what is brought to it."""

    id: int
    mac: str
    ipv4: frozenset[IPv4Address]
    """Its own."""
    shared: frozenset[IPv4Address]
    """Its own or others', each of several guests: the one that announced it last gets it."""
    ipv6: IPv6Address | None
    mail_restricted: bool

    @property
    def has_any(self) -> bool:
        """Whether the guest was started with an interface to the outside."""
        return bool(self.ipv4 or self.shared or self.ipv6)


class AddressEngine(Protocol):
    """What running guests may send and get; nobody speaks for another."""

    async def set(self, guest: GuestAddresses) -> None:
        """Exactly this, from the next packet on. Nothing happens to a guest that is off."""

    async def list(self) -> Mapping[int, GuestAddresses | None]:
        """Of all running guests by id; None of one whose filter or routes somebody changed."""


@dataclass(frozen=True, slots=True)
class PublicLink:
    """The interface with the MAC address and the public and private addresses of the instance."""

    purpose: Literal["public"] = "public"


@dataclass(frozen=True, slots=True)
class VlanLink:
    """An interface in a layer 2 segment that nobody else sees: no gateway, no filter."""

    vlan_id: int
    mac: str
    interface: IPv4Interface | IPv6Interface | None
    """The address that the guest gives itself at boot."""
    purpose: Literal["vlan"] = "vlan"


@dataclass(frozen=True, slots=True)
class VpcLink:
    """An interface in a subnet of a VPC, behind the subnet's gateway."""

    vpc_id: int
    subnet_id: int
    mac: str
    interface: IPv4Interface
    """The guest's address, with the prefix length of the subnet."""
    public: IPv4Address | None
    """A public address that stands for it outside (1:1 NAT)."""
    ranges: tuple[IPv4Network, ...]
    """What is routed to the guest besides."""
    routes: tuple[IPv4Network, ...]
    """The other subnets of the VPC."""
    primary: bool
    """Whether the guest's default route is here."""
    purpose: Literal["vpc"] = "vpc"

    @property
    def gateway(self) -> IPv4Address:
        return self.interface.network[1]


Link: TypeAlias = PublicLink | VlanLink | VpcLink


Slot = Literal["sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh"]

SLOTS: tuple[Slot, ...] = get_args(Slot)


@dataclass(frozen=True, slots=True)
class DiskDevice:
    """A disk of the guest at a slot of its configuration."""

    slot: Slot
    disk_id: int


@dataclass(frozen=True, slots=True)
class VolumeDevice:
    """A volume at a slot, or without one when it was attached for this boot only."""

    slot: Slot | None
    volume_id: int
    label: str


@dataclass(frozen=True, slots=True)
class InstanceSpec:
    """A guest as it should be while it runs."""

    id: int
    vcpus: int
    memory: int
    """MB"""
    mac: str
    """Of the public interface."""
    ipv4: tuple[GuestAddress, ...]
    """Of the public interface."""
    ipv6: IPv6Interface | None
    """The SLAAC address that the guest gives itself from its MAC address."""
    setup: GuestSetup
    devices: tuple[DiskDevice | VolumeDevice, ...] = ()
    """In the order of their slots, those without one last."""
    root: Slot | None = None
    """The slot that the guest boots from."""
    rescue: bool = False
    """Whether it boots a rescue system instead, which mounts nothing."""
    shared: tuple[IPv4Address, ...] = ()
    """Addresses that several guests may use: of its own, and of others."""
    mail_restricted: bool = False
    """Whether the guest may not connect to the ports of mail (spec B compute 4)."""
    links: tuple[Link, ...] = (PublicLink(),)
    """Its network interfaces as the guest finds them, eth0 first; one is public at most."""

    @property
    def name(self) -> str:
        return f"compute-{self.id}"

    @property
    def addresses(self) -> GuestAddresses:
        return GuestAddresses(
            id=self.id,
            mac=self.mac,
            ipv4=frozenset(each.interface.ip for each in self.ipv4),
            shared=frozenset(self.shared),
            ipv6=None if self.ipv6 is None else self.ipv6.ip,
            mail_restricted=self.mail_restricted,
        )


Power = Literal["running", "offline"]


@dataclass(frozen=True, slots=True)
class InstanceState:
    """A guest as it is."""

    id: int
    power: Power
    memory: int
    """MB; of the last start, 0 before the first."""
    vcpus: int
    disks: tuple[DiskState, ...]
    """By id."""
    interrupted: bool = False
    """Whether it is off because its host went down, or `shut_down` stopped it, while it ran."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes to and from a guest, from the IP header on; they outlive the guest's own start."""

    epoch: str = ""
    """Other counters of the guest, which began at 0, have another one."""
    ipv4_in: int = 0
    ipv4_out: int = 0
    private_in: int = 0
    """From private addresses of IPv4, which are not in `ipv4_in`."""
    private_out: int = 0
    ipv6_in: int = 0
    ipv6_out: int = 0


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals since the guest was started, but for its traffic."""

    run: str
    """Which start that was."""
    cpu_seconds: float
    disks: Mapping[int, int]
    """Bytes read and written, by disk; volumes are not among them."""
    traffic: Traffic


class InstanceEngine(Protocol):
    """One data plane for guests. Every method may raise EngineError."""

    @property
    def name(self) -> str:
        """By which instances remember who holds their guests."""

    @property
    def disks(self) -> DiskEngine: ...

    @property
    def backups(self) -> BackupEngine: ...

    @property
    def addresses(self) -> AddressEngine: ...

    @property
    def images(self) -> ImageEngine: ...

    async def start(self, spec: InstanceSpec) -> None:
        """Power the guest on; returns when it runs. A running guest is left alone.

        All of it is as in `spec`. NoDisksError when a device of it does not exist, or there is
        nothing to boot from.
        """

    async def stop(self, compute_id: int, grace: float) -> None:
        """Ask the guest to power off; after `grace` seconds pull the plug.

        Nothing happens to one that is off or does not exist.
        """

    async def delete(self, compute_id: int) -> None:
        """Remove the guest, its disks and its network attachment, running or not.

        Volumes and backups stay.
        """

    async def inspect(self, compute_id: int) -> InstanceState | None:
        """The guest's state, or None when nothing of it exists."""

    async def list(self) -> list[InstanceState]:
        """All guests that this engine holds, also partly made ones, by id."""

    def endings(self) -> AsyncGenerator[int, None]:
        """The ids of guests as they go off, for whatever reason, within a second.

        Of those that run when it begins, and those that this object starts meanwhile; one reader
        at a time. What it misses, as another process may start guests too, `list` shows.
        """

    async def counters(self, compute_id: int) -> Counters | None:
        """None while the guest is offline."""

    async def all_counters(self) -> Mapping[int, Counters]:
        """Of all guests that run. One that does not answer is left out."""

    async def console(self, compute_id: int, limit: int) -> bytes:
        """The last `limit` bytes that the guest wrote to its serial console."""

    async def health(self) -> Health: ...

    async def host(self) -> Host | None:
        """None where guests take nothing of a host: there is as much as anybody wants."""

    async def shut_down(self) -> None:
        """Stop all guests and remove what the engine set up on the host (`roost down`)."""

    async def close(self) -> None:
        """Let go of the data plane; guests go on running."""


INSTANCE_PLANE: Plane[InstanceEngine] = Plane("instances")
