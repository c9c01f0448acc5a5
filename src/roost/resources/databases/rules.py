"""The rules of managed databases as pure functions (spec A databases)."""

from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Protocol

from roost.web.fields import refuse

ADMIN = "roostadmin"
"""The user that an account gets."""

MOST_SNAPSHOTS = 3
AUTO_KEPT = timedelta(days=7)
MAX_NETWORKS = 4096
_LONGEST_NETWORK = 64
"""Characters."""

_WEEK = 7


def check_network(text: str) -> str:
    """An address or a network in its usual form; an address gets its prefix.

    Refused when it is none, and when its address has bits beyond the prefix.
    """
    try:
        if len(text) > _LONGEST_NETWORK or "%" in text:
            raise ValueError(text)
        network = ip_network(text)
    except ValueError:
        raise refuse("Must be an IPv4 or IPv6 address, or a network such as 192.0.2.0/24") from None
    return str(network)


def sort_networks(networks: list[str]) -> list[str]:
    """Each once: IPv4 first, by address, the wider first."""
    parsed = {ip_network(each) for each in networks}
    return [str(each) for each in sorted(parsed, key=lambda n: (n.version, n))]


def replication_of(cluster_size: int, wanted: str | None) -> str | None:
    """How nodes are replicated; None where that does not fit the cluster."""
    if cluster_size == 1:
        return "none" if wanted in (None, "none") else None
    return wanted or "semi_synch" if wanted != "none" else None


class Window(Protocol):
    """When maintenance may be done."""

    @property
    def frequency(self) -> str: ...
    @property
    def hour_of_day(self) -> int: ...
    @property
    def day_of_week(self) -> int: ...
    @property
    def week_of_month(self) -> int | None: ...
    @property
    def duration(self) -> int: ...


def is_open(window: Window, now: datetime) -> bool:
    """Whether it is open at a moment (UTC). The first week of a month are its first seven days."""
    for hours in range(window.duration):
        opened = (now - timedelta(hours=hours)).replace(minute=0, second=0, microsecond=0)
        if opened.hour != window.hour_of_day or opened.isoweekday() != window.day_of_week:
            continue
        if window.frequency == "weekly" or (opened.day - 1) // _WEEK + 1 == window.week_of_month:
            return True
    return False


def auto_label(now: datetime, suffix: str) -> str:
    """What the schedule calls a backup."""
    return f"Scheduled - {now:%m/%d/%y %H:%M} UTC-{suffix[:6]}"
