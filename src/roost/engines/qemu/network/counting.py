"""Counting each guest's bytes, in a table of the packet filter of its own.

What the filter against spoofing drops is not counted. Counters stay when the guest's network device
goes, until the guest is deleted or the namespace is gone.
"""

import struct
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network
from pathlib import Path

from roost.engines.qemu.network.config import tap_name
from roost.engines.qemu.network.namespace import made_as
from roost.engines.qemu.network.netlink import (
    BRIDGE_FAMILY,
    GETOBJ,
    Netlink,
    attributes,
    named,
    number,
    read_text,
    text,
)
from roost.resources.compute.network_engine import Traffic

_NAME = "roost_traffic"
_TABLE = f"bridge {_NAME}"
_KINDS = ("ipv4", "private", "ipv6")
_MAPS = tuple(f"{kind}_{way}" for kind in _KINDS for way in ("in", "out"))
_NEAR = "{ fe80::/10, ff00::/8 }"
"""What never leaves the network, such as router advertisements."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

# Attributes of an object and of a counter (linux/netfilter/nf_tables.h).
_OBJECT_TABLE, _OBJECT_NAME, _OBJECT_TYPE, _OBJECT_DATA = 1, 2, 3, 4
_COUNTER = 1
_COUNTER_BYTES = 1


def counting(private: Iterable[IPv4Network]) -> str:
    """Can be applied again at any time; the counters stay."""
    lines = [f"add table {_TABLE}"]
    lines += [f"add map {_TABLE} {each} {{ type ifname : counter; }}" for each in _MAPS]
    lines += _chain("from_guests", "prerouting", "iifname", "out", "daddr", private)
    lines += _chain("to_guests", "postrouting", "oifname", "in", "saddr", private)
    return "".join(f"{line}\n" for line in lines)


def guest_counters(compute_id: int) -> str:
    """Those of a guest that has them or not."""
    return "".join(
        f"add counter {_TABLE} {_counter(compute_id, each)}\n"
        f"add element {_element(compute_id, each)}\n"
        for each in _MAPS
    )


def no_guest_counters(compute_id: int) -> str:
    """Forget a guest that has counters or not."""
    return guest_counters(compute_id) + "".join(
        f"delete element {_element(compute_id, each)}\n"
        f"delete counter {_TABLE} {_counter(compute_id, each)}\n"
        for each in _MAPS
    )


def read_traffic(network: str) -> dict[int, Traffic]:
    """The traffic of all guests, by id; inside the namespace. OSError when there is none."""
    epoch = f"{_BOOT_ID.read_text().strip()}.{made_as(network)}"
    return {compute_id: _traffic(epoch, each) for compute_id, each in _totals().items()}


def counted_guests() -> set[int]:
    """Those that have all counters; inside the namespace."""
    try:
        return {compute_id for compute_id, each in _totals().items() if len(each) == len(_MAPS)}
    except FileNotFoundError:  # The table is gone.
        return set()


def _totals() -> dict[int, dict[str, int]]:
    """Bytes by guest and counter."""
    with Netlink(BRIDGE_FAMILY) as kernel:
        wanted = text(_OBJECT_TABLE, _NAME), number(_OBJECT_TYPE, _COUNTER)
        found = kernel.dump(GETOBJ, *wanted)
    totals: dict[int, dict[str, int]] = {}
    for name, total in map(_read, found):
        compute_id, _, kind = name.removeprefix("guest_").partition("_")
        totals.setdefault(int(compute_id), {})[kind] = total
    return totals


def _chain(
    name: str, hook: str, device: str, way: str, end: str, private: Iterable[IPv4Network]
) -> Iterable[str]:
    """One packet is counted once: as private, or as one of its family."""
    yield f"add chain {_TABLE} {name} {{ type filter hook {hook} priority 200; policy accept; }}"
    yield f"flush chain {_TABLE} {name}"
    rule = f"add rule {_TABLE} {name}"
    networks = ", ".join(map(str, private))
    if networks:
        yield f"{rule} ip {end} {{ {networks} }} counter name {device} map @private_{way} accept"
    yield f"{rule} meta protocol ip counter name {device} map @ipv4_{way}"
    yield f"{rule} ip6 {end} != {_NEAR} counter name {device} map @ipv6_{way}"


def _counter(compute_id: int, kind: str) -> str:
    return f"guest_{compute_id}_{kind}"


def _element(compute_id: int, kind: str) -> str:
    return f'{_TABLE} {kind} {{ "{tap_name(compute_id)}" : "{_counter(compute_id, kind)}" }}'


def _read(payload: bytes) -> tuple[str, int]:
    found = named(payload)
    data = dict(attributes(found[_OBJECT_DATA]))
    return read_text(found[_OBJECT_NAME]), struct.unpack("!Q", data[_COUNTER_BYTES])[0]


def _traffic(epoch: str, totals: Mapping[str, int]) -> Traffic:
    return Traffic(epoch, **{kind: totals.get(kind, 0) for kind in _MAPS})
