"""The rules of managed databases as pure functions (spec A databases)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Network, ip_network
from typing import Protocol

from roost.errors import Problem
from roost.resources.databases.engine import DatabaseShape, temporary_room
from roost.web.fields import MAPPED, refuse

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
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped is not None:
        raise refuse(MAPPED)
    return str(network)


def sort_networks(networks: list[str]) -> list[str]:
    """Each once: IPv4 first, by address, the wider first."""
    parsed = {ip_network(each) for each in networks}
    return [str(each) for each in sorted(parsed, key=lambda n: (n.version, n))]


def replication_of(cluster_size: int, wanted: str | None, usual: str = "semi_synch") -> str | None:
    """How nodes are replicated, as is `usual` for a cluster if nothing is wanted; None where that
    does not fit the cluster."""
    if cluster_size == 1:
        return "none" if wanted in (None, "none") else None
    return wanted or usual if wanted != "none" else None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a fork and the database that is forked have, or must have, in common."""

    region: str
    server: tuple[str, str]
    """With its version"""
    encrypted: bool
    disk: int
    """MB of a node"""


def origin(region: str, shape: DatabaseShape, disk: int) -> Origin:
    server = shape.server, shape.version
    return Origin(region=region, server=server, encrypted=shape.encrypted, disk=disk)


def fork_problems(wanted: Origin, source: Origin) -> Iterator[Problem]:
    """Why a fork cannot be made so."""
    if wanted.region != source.region:
        yield Problem("Must be the region of the database that is forked", "region")
    if wanted.disk < source.disk:
        yield Problem("Must have as much disk as that of the database that is forked", "type")
    if wanted.server != source.server:
        yield Problem("Must be the engine of the database that is forked", "engine")
    if wanted.encrypted != source.encrypted:
        must = str(source.encrypted).lower()
        yield Problem(f"Must be {must}, as it is of the database that is forked", "encrypted")


def moment_problem(moment: datetime, oldest: datetime | None, now: datetime) -> Problem | None:
    """Why a fork cannot have a moment of a database; `oldest`: the first one that it can."""
    if oldest is None:
        return Problem("Database has no backup that can be forked", "fork.source")
    if moment > now:
        return Problem("Must not be in the future", "fork.restore_time")
    if moment < oldest:
        return Problem(f"Must not be before {oldest.isoformat()}", "fork.restore_time")
    return None


def auto_label(now: datetime, suffix: str) -> str:
    """What the schedule calls a backup."""
    return f"Scheduled - {now:%m/%d/%y %H:%M} UTC-{suffix[:6]}"


def is_full(used: int, disk: int, *, was_full: bool = False) -> bool:
    """Whether data of so many MB take all of the disk but what is for temporary files; there is
    room again when a twentieth is free."""
    return used * 20 >= (disk - temporary_room(disk)) * (19 if was_full else 20)
