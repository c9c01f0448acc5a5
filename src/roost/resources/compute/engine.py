"""What compute needs from a data plane that runs guests, and keeps their disks and backups.

An implementation keeps no truth of its own about what should exist: every call that makes
something carries the whole specification. All methods are idempotent, so a repeated call after a
crash is harmless, and may raise EngineError; names on the host derive from ids (`compute-100001`,
`disk-100001`, `backup-100001`). A disk belongs to the guest of one instance and goes with it; a
backup outlives changes to its instance's disks.
"""

import socket
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Interface, IPv6Network
from typing import Literal, Protocol, get_args

from roost.core.engine import EngineError, Health, Host
from roost.core.planes import Plane
from roost.resources.compute.disk_engine import (
    BackupEngine,
    DiskEngine,
    DiskState,
    ImageEngine,
    Progress,
)
from roost.resources.compute.live_engine import Destination, HostAddress, Offer
from roost.resources.compute.network_engine import (
    AddressEngine,
    GuestAddress,
    GuestAddresses,
    Link,
    MetadataEngine,
    PublicLink,
    Traffic,
)
from roost.resources.compute.overlay_engine import OverlayEngine


class NoDisksError(EngineError):
    """A guest cannot start: what it is to boot from, or a device of it, is gone."""


class MountedError(EngineError):
    """A volume cannot be taken from a guest that still uses it."""


@dataclass(frozen=True, slots=True)
class FirstBootScript:
    """A program that a guest runs once, as root, at the first boot from a disk."""

    text: str
    """It begins with `#!` and what runs it."""
    variables: Mapping[str, str]
    """Of its environment."""


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
    script: FirstBootScript | None = None


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
    ranges: frozenset[IPv6Network] = frozenset()
    shared_ranges: frozenset[IPv6Network] = frozenset()
    network_out: int | None = None
    """Mbit/s that it may send by each interface that leads out; None: as fast as it can."""

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
            ranges=self.ranges,
            shared_ranges=self.shared_ranges,
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
    process: int | None = field(default=None, compare=False)
    """On the host, of a guest that runs in one."""


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals since the guest was started, but for its traffic."""

    run: str
    """Which start that was."""
    cpu_seconds: float
    disks: Mapping[int, int]
    """Bytes read and written, by disk; volumes are not among them."""
    traffic: Traffic


class LiveEngine(Protocol):
    """Moves guests to another host of their region while they run, with all addresses.

    Each side is asked by its own worker:

        here: offer -> there: receive -> here: send -> the books say "there" -> there: enter
                                                                            -> here: delete

    `send` ends with the guest halted here and whole there, where it waits. Neither side lets it go
    on by itself: `enter` does there, `stay` does here, and whoever calls them has written before
    that the guest is there, or is to stay here. So no two of it run, whichever worker or host dies
    when.

    What fails before that is undone: `turn_away` there, `stay` here.

    Volumes are made empty there before `receive` (VolumeEngine.create), and go with the guest;
    those that it leaves behind are deleted here after it has gone. Its firewalls are put in force
    there before `enter`.
    """

    async def offer(self, compute_id: int, address: HostAddress) -> Offer:
        """Describe a guest that runs, for the other host, which fetches files at `address`.

        The guest goes on. UnfitError when it has to be powered off for a move.
        """

    async def receive(self, spec: InstanceSpec, offer: Offer, address: HostAddress) -> Destination:
        """Make all ready for the guest: disks, network and a machine that waits at `address`.

        `list` does not show it before it has entered. What an earlier call has made is made anew.
        UnfitError when this host cannot go on with what runs there; FullError without room.
        """

    async def send(
        self, compute_id: int, destination: Destination, limit: int | None, progress: Progress
    ) -> None:
        """Returns when the guest is halted, and the other host has all of it.

        It takes at most `limit` bytes a second of the network, but for the very end. When it fails,
        or is cancelled, the guest goes on here. Nothing happens to a guest that was sent already.
        """

    async def enter(self, spec: InstanceSpec) -> None:
        """Let the guest that was received go on here, and tell the network.

        One whose machine has died since is started from its disks. Nothing happens to one that has
        entered.
        """

    async def turn_away(self, compute_id: int) -> None:
        """Remove all that `receive` has made of a guest that has not entered, but its volumes."""

    async def stay(self, compute_id: int) -> None:
        """Let a guest go on here of which `offer` or `send` was called.

        Nothing happens to one that is off.
        """


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
    def metadata(self) -> MetadataEngine: ...

    @property
    def overlay(self) -> OverlayEngine: ...

    @property
    def images(self) -> ImageEngine: ...

    @property
    def live(self) -> LiveEngine:
        """For guests that go to another host of the region while they run."""

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
        """Remove the guest, its disks and its network attachment, running or not, or about to come.

        Volumes and backups stay.
        """

    async def take(
        self, compute_id: int, source: "InstanceEngine", backups: Collection[int]
    ) -> None:
        """Take a guest that is off over from another engine: its disks, and these backups.

        What `source` no longer has is here already, or nowhere. EngineError when the guest runs,
        or `source` keeps its guests where this engine cannot reach them; then it keeps them.
        """

    def pack(
        self, compute_id: int, backups: Collection[int], *, guest: bool = True
    ) -> AsyncGenerator[bytes, None]:
        """A guest that is off with its disks, and these backups, for `unpack` of another host's
        engine of this name. EngineError when the guest runs; then it keeps them.

        `guest`: False for the backups alone, whatever the guest does.
        """

    async def unpack(
        self, compute_id: int, backups: Collection[int], content: AsyncIterator[bytes]
    ) -> None:
        """Keep what was packed, each guest or backup as a whole or not at all, for good.

        It takes the place of what an earlier attempt left. EngineError while such a guest runs.
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

    async def counters(self) -> Mapping[int, Counters]:
        """The counters of all guests that run. One that does not answer is left out."""

    async def console(self, compute_id: int, limit: int) -> bytes:
        """The last `limit` bytes that the guest wrote to its serial console."""

    async def terminal(self, compute_id: int) -> socket.socket:
        """A connection to the serial console of a guest that runs, which the caller closes.

        It does not block. One at a time gets what the guest writes, and others wait for it to end.
        """

    async def health(self) -> Health: ...

    async def host(self) -> Host | None:
        """None where guests take nothing of a host: there is as much as anybody wants."""

    async def shut_down(self) -> None:
        """Stop all guests and remove what the engine set up on the host (`roost down`)."""

    async def close(self) -> None:
        """Let go of the data plane; guests go on running."""


INSTANCE_PLANE: Plane[InstanceEngine] = Plane("instances")
