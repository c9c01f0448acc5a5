"""How much was used between two readings of a guest's counters."""

from dataclasses import astuple, dataclass
from datetime import datetime, timedelta

from roost.resources.compute.engine import Counters

STEP, HOUR = 300, 3600
"""Seconds that one amount stands for: those of the last day, and all others."""
_LONGEST = 2 * STEP
"""Seconds between two readings; after more, what was used is shown as a mean over all of them."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Seconds of processors, and bytes."""

    cpu: float = 0.0
    io: int = 0
    swap: int = 0
    ipv4_in: int = 0
    ipv4_out: int = 0
    private_in: int = 0
    private_out: int = 0
    ipv6_in: int = 0
    ipv6_out: int = 0

    @property
    def public_in(self) -> int:
        return self.ipv4_in + self.ipv6_in

    @property
    def public_out(self) -> int:
        return self.ipv4_out + self.ipv6_out

    def of(self, share: float) -> "Amounts":
        """A part of it."""
        cpu, *amounts = astuple(self)
        return Amounts(cpu * share, *(int(amount * share) for amount in amounts))


@dataclass(frozen=True, slots=True)
class Reading:
    """What a guest's counters showed at some time."""

    read_at: datetime
    run: str
    epoch: str
    totals: Amounts


def reading(counters: Counters, swaps: frozenset[int], now: datetime) -> Reading:
    """`swaps`: which of the guest's disks are for swapping."""
    moved = sum(amount for disk_id, amount in counters.disks.items() if disk_id not in swaps)
    swapped = sum(counters.disks.values()) - moved
    seen = counters.traffic
    totals = Amounts(
        counters.cpu_seconds,
        moved,
        swapped,
        seen.ipv4_in,
        seen.ipv4_out,
        seen.private_in,
        seen.private_out,
        seen.ipv6_in,
        seen.ipv6_out,
    )
    return Reading(now, counters.run, seen.epoch, totals)


def used(before: Reading | None, now: Reading) -> Amounts:
    """Counters that began anew have counted all that they show since the reading before."""
    if before is None:
        return now.totals
    was, is_ = before.totals, now.totals
    same_run = before.run == now.run and was.cpu <= is_.cpu
    # An earlier release knew less of the same epoch.
    same_epoch = f"{now.epoch}.".startswith(f"{before.epoch}.")
    same_epoch &= was.public_out <= is_.public_out
    own = (was.cpu, was.io, was.swap) if same_run else (0.0, 0, 0)
    traffic = astuple(was)[3:] if same_epoch else (0,) * 6
    cpu, *amounts = (
        max(0, total - former) for total, former in zip(astuple(is_), (*own, *traffic), strict=True)
    )
    return Amounts(cpu, *map(int, amounts))


@dataclass(frozen=True, slots=True)
class Seen:
    """What was used within so many seconds up to a reading."""

    seconds: float
    amounts: Amounts


def seen(before: Reading | None, now: Reading) -> Seen | None:
    """For charts: a mean where long nobody looked; nothing of a guest's first reading."""
    if before is None:
        return None
    passed = (now.read_at - before.read_at).total_seconds()
    if passed <= 0:
        return None
    amounts = used(before, now)
    if passed <= _LONGEST:
        return Seen(passed, amounts)
    return Seen(STEP, amounts.of(STEP / passed))


def bucket(now: datetime, step: int) -> datetime:
    """Where an amount that was read at a time belongs: to the time before it."""
    middle = now - timedelta(seconds=STEP / 2)
    midnight = middle.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + (middle - midnight) // timedelta(seconds=step) * timedelta(seconds=step)


def billable(used_gb: int, quota_gb: int) -> int:
    """GB beyond what there is."""
    return max(0, used_gb - quota_gb)
