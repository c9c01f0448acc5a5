"""Counting what filters of guests' devices drop: by reason, and by device.

Each filter counts in the very rule that drops, so that nobody can lose the one and keep the other.
"""

import struct
from collections.abc import Mapping
from typing import Literal, get_args

from roost.engines.qemu.network.netlink import (
    BRIDGE_FAMILY,
    GETOBJ,
    TABLE,
    Netlink,
    attributes,
    named,
    number,
    read_text,
    text,
)

Reason = Literal["mac", "arp", "dhcp", "router", "neighbour", "fragment", "source", "unfiltered"]
"""A foreign MAC address; ARP for or about others' addresses; answers of DHCP servers; what only
routers say; neighbour discovery for or about others' addresses; its fragments; foreign addresses
as sources, VLAN tags and other protocols; all of a device that has no filter."""

_REASONS: tuple[Reason, ...] = get_args(Reason)
_PREFIX = "spoofed_"

# Attributes of an object and of a counter (linux/netfilter/nf_tables.h).
_OBJECT_TABLE, _OBJECT_NAME, _OBJECT_TYPE, _OBJECT_DATA = 1, 2, 3, 4
_COUNTER = 1
_COUNTER_PACKETS = 2

COUNTERS = "".join(f"add counter bridge {TABLE} {_PREFIX}{reason}\n" for reason in _REASONS)
"""Can be applied again at any time; what was counted stays."""


def device_counter(name: str) -> str:
    """The counter of a device; what it has counted stays."""
    return f"add counter bridge {TABLE} {name}\n"


def no_device_counter(name: str) -> str:
    """Forget a counter that is there, and in no rule."""
    return f"delete counter bridge {TABLE} {name}\n"


def dropped(reason: Reason, device: str | None = None) -> str:
    """The end of a rule; `device`: the name of its counter."""
    own = "" if device is None else f'counter name "{device}" '
    return f'counter name "{_PREFIX}{reason}" {own}drop'


def read_dropped() -> Mapping[str, int]:
    """Frames by reason since the namespace was made; inside it."""
    with Netlink(BRIDGE_FAMILY) as kernel:
        wanted = text(_OBJECT_TABLE, TABLE), number(_OBJECT_TYPE, _COUNTER)
        found = dict(map(_read, kernel.dump(GETOBJ, *wanted)))
    return {reason: found.get(_PREFIX + reason, 0) for reason in _REASONS}


def _read(payload: bytes) -> tuple[str, int]:
    found = named(payload)
    data = dict(attributes(found[_OBJECT_DATA]))
    return read_text(found[_OBJECT_NAME]), struct.unpack("!Q", data[_COUNTER_PACKETS])[0]
