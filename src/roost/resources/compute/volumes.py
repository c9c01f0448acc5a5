"""What compute asks of volumes: their package rests on this one, which never imports it.

The composition root gives an InstanceVolumes that is made of functions of the volumes package.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries


@dataclass(frozen=True, slots=True)
class AttachedVolume:
    """A volume that an instance has."""

    id: int
    label: str
    persist_across_boots: bool
    """False: it goes when the instance goes off, and no config names it."""


@dataclass(frozen=True, slots=True)
class InstanceVolumes:
    """Each is called in a transaction that holds the instance's row."""

    attached: Callable[[Queries, int], Awaitable[list[AttachedVolume]]]
    """By id."""
    claim: Callable[[Queries, int, Collection[int], datetime], Awaitable[None]]
    """Attach volumes that a config of the instance is to name; those it has already stay.

    Raises ApiError 400 for one that is not the account's, in another region, about to be
    detached, attached to another instance, or one too many for the instance's memory.
    """
    too_many: Callable[[Queries, int, int], Awaitable[str | None]]
    """Why an instance with so many MB of memory could not have the volumes that it has."""
    resources: Callable[[Queries, int], Awaitable[list[str]]]
    """Under which names jobs work on volumes of the instance, and on clones of these."""
    busy: Callable[[Queries, int], Awaitable[bool]]
    """Whether a job works on a volume of the instance, so that it must not change its power."""
    went_off: Callable[[Queries, int, datetime], Awaitable[None]]
    """Detach those that were attached for one boot only."""
    release: Callable[[Queries, int, datetime], Awaitable[None]]
    """Detach all, as the instance is going to be gone."""
