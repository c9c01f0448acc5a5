"""What a region's host has, what is promised of it, and whether that fits."""

from dataclasses import dataclass

from roost.core.catalog.entries import Overcommit

RESERVE = 1024
"""MB that stay free on the host, whatever may be promised."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the host of a region has, in MB; its volumes share the storage."""

    memory: int
    storage: int
    free: int
    """Of the storage, now."""


@dataclass(frozen=True, slots=True)
class Promised:
    """What instances and volumes of a region have, or have soon, in MB."""

    memory: int
    storage: int


def fits(capacity: Capacity, promised: Promised, overcommit: Overcommit) -> bool:
    """Whether the host may promise that much."""
    return (
        promised.memory <= capacity.memory * overcommit.memory
        and promised.storage <= capacity.storage * overcommit.storage
        and capacity.free >= RESERVE
    )
