"""What compute needs of a data plane that moves guests to another host while they run.

Both hosts are of one region: a guest keeps its addresses. Each side is asked by its own worker:

    here: offer -> there: receive -> here: send -> the books say "there" -> there: enter
                                                                        -> here: delete

`send` ends with the guest halted here and whole there, where it waits. Neither side lets it go on
by itself: `enter` does there, `stay` does here, and whoever calls them has written before that the
guest is there, or is to stay here. So no two of it run, whichever worker or host dies when.

What fails before that is undone in this order: `turn_away` there, `stay` here.

Volumes are made empty there before `receive` (VolumeEngine.create), and go with the guest; those
that it leaves behind are deleted here after it has gone. Its firewalls are put in force there
before `enter`.
"""

from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, NewType, Protocol

from roost.core.engine import EngineError
from roost.resources.compute.disk_engine import Progress

if TYPE_CHECKING:
    from roost.resources.compute.engine import InstanceSpec

HostAddress = IPv4Address | IPv6Address

Offer = NewType("Offer", str)
"""How the guest runs, and where the other host fetches its files. It holds a secret: whoever keeps
it has to seal it."""

Landing = NewType("Landing", str)
"""Where the other host waits for the guest. It holds a secret, as an offer does."""


class UnfitError(EngineError):
    """This guest cannot go to this host while it runs; powered off, it can."""

    lasting = True


class LiveEngine(Protocol):
    """Of one host's guests. Methods may be called again at any time, and raise EngineError."""

    async def offer(self, compute_id: int, address: HostAddress) -> Offer:
        """Describe a guest that runs, for the other host, which fetches files at `address`.

        The guest goes on. UnfitError when it has to be powered off for a move.
        """

    async def receive(self, spec: "InstanceSpec", offer: Offer, address: HostAddress) -> Landing:
        """Make all ready for the guest: disks, network and a machine that waits at `address`.

        `list` does not show it before it has entered. What an earlier call has made is made anew.
        UnfitError when this host cannot go on with what runs there; FullError without room.
        """

    async def send(
        self, compute_id: int, landing: Landing, limit: int | None, progress: Progress
    ) -> None:
        """Returns when the guest is halted, and the other host has all of it.

        It takes at most `limit` bytes a second of the network, but for the very end. When it fails,
        or is cancelled, the guest goes on here. Nothing happens to a guest that was sent already.
        """

    async def enter(self, spec: "InstanceSpec") -> None:
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
