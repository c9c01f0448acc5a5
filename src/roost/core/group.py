"""What a resource group consists of: one manifest in its own package, `group.py`."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from types import ModuleType
from typing import TypeAlias, TypeVar

from roost.core.billing.ledger import Billable
from roost.core.billing.metered import Metered
from roost.core.bindings import Binding, check_bindings
from roost.core.conditions import Watch
from roost.core.endings import Ending
from roost.core.entities.kind import EntityKind
from roost.core.fsck import Check
from roost.core.hosts.holdings import Holding
from roost.core.limits.capacity import Promise
from roost.core.limits.kinds import LimitGroup
from roost.core.neighbours import Neighbour
from roost.core.notices import Cause
from roost.core.planes import Engine, Plane
from roost.core.retention import Retention
from roost.core.suspensions import Suspension
from roost.jobs.kinds import AnyKind
from roost.jobs.schedules import AnySchedule
from roost.settings import Settings
from roost.store import Queries

T = TypeVar("T")

Holders: TypeAlias = tuple[Plane[Engine], Callable[[Queries], Awaitable[list[tuple[str, str]]]]]
"""A data plane, and the query for regions and the names of the engines that hold something there.
"""


def _no_services(settings: Settings) -> Iterable[object]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All that the application does with a group, it takes from here."""

    endpoints: tuple[ModuleType, ...] = ()
    """Modules with functions that `endpoint` declares."""
    entities: tuple[EntityKind, ...] = ()
    jobs: tuple[AnyKind, ...] = ()
    schedules: tuple[AnySchedule, ...] = ()
    at_start: tuple[AnySchedule, ...] = ()
    """Those of the schedules that are run also when a worker starts, as nobody knows what happened
    before."""
    retention: tuple[Retention, ...] = ()
    checks: tuple[Check, ...] = ()
    """Of `roost fsck`."""
    bindings: tuple[Binding, ...] = ()
    """What it binds to each other, which is of one account."""
    on_each_host: bool = False
    """Whether each host has something of the group, and not the main one alone."""
    causes: tuple[Cause, ...] = ()
    """Of notifications."""
    watches: tuple[Watch, ...] = ()
    """Of what operators are told."""
    limits: tuple[LimitGroup, ...] = ()
    """What is counted for each account."""
    billables: tuple[Billable, ...] = ()
    """What accounts are charged for by the hour."""
    metered: tuple[Metered, ...] = ()
    """What they are charged for by what they used of it."""
    holders: tuple[Holders, ...] = ()
    """By which a region keeps its engines while they hold something."""
    neighbours: tuple[Neighbour, ...] = ()
    """What hangs on instances."""
    endings: tuple[Ending, ...] = ()
    """What ends with an account that is canceled."""
    suspensions: tuple[Suspension, ...] = ()
    """What rests while an account is suspended."""
    promises: tuple[Promise, ...] = ()
    """What takes memory and storage of the hosts of regions."""
    holdings: tuple[Holding, ...] = ()
    """What hosts have, and another one takes over when one is dead."""
    services: Callable[[Settings], Iterable[object]] = _no_services
    """What the group keeps for the life of a process: above all what the operator has set. It may
    read files. OperatorError for settings that do not fit."""


class Groups:
    """All groups of an installation as one."""

    def __init__(self, *groups: Group) -> None:
        self.groups = groups
        self.endpoints = _all(group.endpoints for group in groups)
        self.entities = _all(group.entities for group in groups)
        retention = _all(group.retention for group in groups)
        self.jobs: tuple[AnyKind, ...] = (
            *_all(group.jobs for group in groups),
            *(each.kind for each in retention),
        )
        self.schedules: tuple[AnySchedule, ...] = (
            *_all(group.schedules for group in groups),
            *(each.nightly for each in retention),
        )
        self.at_start = _all(group.at_start for group in groups)
        self.bindings = _all(group.bindings for group in groups)
        self.checks = (*_all(g.checks for g in groups), check_bindings(self.bindings))
        self.checks_on_each_host = _all(g.checks for g in groups if g.on_each_host)
        self.causes = _all(group.causes for group in groups)
        self.watches = _all(group.watches for group in groups)
        self.limits = _all(group.limits for group in groups)
        self.limit_kinds = {kind.name: kind for group in self.limits for kind in group.kinds}
        self.billables = _all(group.billables for group in groups)
        self.metered = _all(group.metered for group in groups)
        self.holders = _all(group.holders for group in groups)
        self.neighbours = _all(group.neighbours for group in groups)
        self.endings = _all(group.endings for group in groups)
        self.suspensions = _all(group.suspensions for group in groups)
        self.promises = _all(group.promises for group in groups)
        self.holdings = _all(group.holdings for group in groups)

    def services(self, settings: Settings) -> list[object]:
        """Those of all groups. Raises OperatorError."""
        return [service for group in self.groups for service in group.services(settings)]


def _all(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(parts))
