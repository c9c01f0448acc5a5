"""What a host has for a region, what is promised of it, and whether that fits."""

from dataclasses import dataclass

from roost.core.catalog.entries import Overcommit

RESERVE = 1024
"""MB that stay free on the host, whatever may be promised."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a host has for a region, in MB; its volumes share the storage."""

    memory: int
    storage: int
    free: int
    """Of the storage, now."""
    cpus: int | None = None
    """None: not known, and not counted."""


@dataclass(frozen=True, slots=True)
class Promised:
    """What instances and volumes have, or have soon, in MB."""

    memory: int
    storage: int
    vcpus: int = 0

    def __add__(self, other: "Promised") -> "Promised":
        return Promised(
            self.memory + other.memory,
            self.storage + other.storage,
            self.vcpus + other.vcpus,
        )


def fits(capacity: Capacity, promised: Promised, overcommit: Overcommit) -> bool:
    """Whether the host may promise that much."""
    return (
        promised.memory <= capacity.memory * overcommit.memory
        and promised.storage <= capacity.storage * overcommit.storage
        and capacity.free >= RESERVE
        and _fits_cpus(capacity, promised, overcommit)
    )


def _fits_cpus(capacity: Capacity, promised: Promised, overcommit: Overcommit) -> bool:
    if capacity.cpus is None or overcommit.vcpus is None:
        return True
    return promised.vcpus <= capacity.cpus * overcommit.vcpus
