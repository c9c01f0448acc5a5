"""Nothing that a resource group declares is left out of its manifest."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

import roost
from roost.app.groups import GROUPS
from roost.core.conditions import Watch
from roost.core.endings import Ending
from roost.core.entities.kind import EntityKind
from roost.core.fsck import Check
from roost.core.group import Group
from roost.core.hosts.holdings import Holding
from roost.core.limits.kinds import LimitGroup
from roost.jobs.kinds import JobKind
from roost.jobs.retention import RETENTION
from roost.jobs.schedules import Schedule
from roost.web.registry import Endpoint


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not info.name.startswith("roost.store.migrations"):
            yield import_module(info.name)


MODULES = tuple(_modules(roost))
BUILT_IN = (RETENTION,)
"""Of the queue itself."""


@pytest.mark.parametrize(
    ("kind", "listed"),
    [
        (EntityKind, GROUPS.entities),
        (JobKind, (*GROUPS.jobs, *BUILT_IN)),
        (Schedule, GROUPS.schedules),
        (LimitGroup, GROUPS.limits),
        (Ending, GROUPS.endings),
        (Watch, GROUPS.watches),
        (Holding, GROUPS.holdings),
    ],
    ids=["entities", "jobs", "schedules", "limits", "endings", "watches", "holdings"],
)
def test_every_declaration_is_in_a_manifest(kind: type, listed: tuple[object, ...]) -> None:
    declared = [
        (module.__name__, name)
        for module in MODULES
        for name, value in vars(module).items()
        if isinstance(value, kind) and value not in listed
    ]
    assert declared == []
    assert len(set(map(id, listed))) == len(listed)


def test_every_module_of_endpoints_is_in_a_manifest() -> None:
    with_endpoints = {
        module
        for module in MODULES
        for value in vars(module).values()
        if isinstance(value, Endpoint)
        and value.handler.__module__ == module.__name__
        # What a dialect has beside the API is no group's.
        and not module.__name__.startswith("roost.dialect.")
    }
    assert with_endpoints == set(GROUPS.endpoints)


def test_every_check_is_in_a_manifest() -> None:
    signature = inspect.signature(GROUPS.checks[0])
    declared: set[Check] = {
        value
        for module in MODULES
        for value in vars(module).values()
        if inspect.isasyncgenfunction(value)
        and not value.__name__.startswith("_")
        and inspect.signature(value) == signature
    }
    assert declared == {each for group in GROUPS.groups for each in group.checks}


def test_every_manifest_is_listed() -> None:
    manifests = [
        value
        for module in MODULES
        if module.__name__.endswith(".group")
        for value in vars(module).values()
        if isinstance(value, Group)
    ]
    listed = set(map(id, GROUPS.groups))
    assert [each for each in manifests if id(each) not in listed] == []


NAMES = frozenset(
    (
        *("bodies", "conditions", "endpoints", "engine", "entity", "fsck", "group", "jobs"),
        *("holdings", "limits", "locks"),
        *("neighbours", "notices", "queries", "records", "references", "rules"),
        *("service", "settings", "steps"),
    )
)
"""What modules of groups are called, alone or behind a subject (docs/adding-a-group.md)."""

OTHERS = {
    "billing.invoice_csv": "writes items of invoices as CSV",
    "billing.invoice_pdf": "lays out pages of invoices",
    "domains.parsing": "reads zone files and the records of other name servers",
    "domains.wire_parsing": "reads messages of DNS",
    "domains.transfer_client": "fetches zones from other name servers",
}
"""Modules that are of one group alone, and why."""


def test_modules_of_groups_have_the_same_names() -> None:
    inside = [
        module.__name__.removeprefix("roost.resources.")
        for module in MODULES
        if module.__name__.startswith("roost.resources.") and not hasattr(module, "__path__")
    ]
    strange = {name for name in inside if name.rpartition(".")[2].rpartition("_")[2] not in NAMES}
    assert strange == set(OTHERS)
