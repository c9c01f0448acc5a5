"""Which of its alerts an instance exceeds (spec B compute alerts units)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from roost.resources.compute.records import Alerts
from roost.resources.usage.rules import Amounts

SPAN = timedelta(hours=2)
"""Of the means."""
_SECONDS = SPAN.total_seconds()
_BLOCK = 4096
_MBIT = 1_000_000 / 8
_GB = 10**9


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A threshold, and what is above it."""

    title: str
    message: str
    """What follows the label of the instance."""


def exceeded(used: Amounts, sent: int, quota: int, alerts: Alerts) -> Iterator[Exceeded]:
    """`used` within two hours; `sent`: bytes of this month, of `quota` GB."""
    cpu = 100 * used.cpu / _SECONDS
    if _above(cpu, alerts["cpu"]):
        yield _mean("CPU usage", cpu, "% of a processor", alerts["cpu"])
    io = (used.io + used.swap) / _BLOCK / _SECONDS
    if _above(io, alerts["io"]):
        yield _mean("Disk I/O rate", io, "blocks/s", alerts["io"])
    received = (used.public_in + used.private_in) / _MBIT / _SECONDS
    if _above(received, alerts["network_in"]):
        yield _mean("Inbound traffic rate", received, "Mbit/s", alerts["network_in"])
    gone = (used.public_out + used.private_out) / _MBIT / _SECONDS
    if _above(gone, alerts["network_out"]):
        yield _mean("Outbound traffic rate", gone, "Mbit/s", alerts["network_out"])
    share = 100 * sent / (quota * _GB) if quota else 0.0
    if _above(share, alerts["transfer_quota"]):
        text = f"has sent {share:.0f} % of this month's transfer of its plan"
        yield Exceeded("Transfer quota", f"{text}; the alert is at {alerts['transfer_quota']} %.")


def _above(value: float, threshold: int) -> bool:
    return 0 < threshold < value


def _mean(title: str, value: float, unit: str, threshold: int) -> Exceeded:
    text = f"has a {title} of {value:.0f} {unit} over the last two hours"
    return Exceeded(title, f"{text}; the alert is at {threshold}.")
