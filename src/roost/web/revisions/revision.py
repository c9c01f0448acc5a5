"""Revisions as they are declared, and the way of records from one to the next."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field

from roost.web.openapi.schemas import row_of
from roost.web.registry import Endpoint, Page
from roost.web.revisions.fields import Schemas
from roost.web.revisions.plans import Changes, Plan, plan_of


@dataclass(frozen=True, slots=True)
class Revision:
    """A shape of the API that is kept."""

    date: str
    """Its name: the day of its release, YYYY-MM-DD."""
    text: str
    """What has changed, for people."""
    changes: Changes = field(default_factory=dict)
    """What it made of the revision before, by record."""


@dataclass(frozen=True, slots=True)
class Step:
    """The way from a revision to the one before, and back."""

    bodies: Mapping[str, Plan]
    """By operation."""
    answers: Mapping[str, Plan]
    """By operation."""
    rows: Mapping[str, Plan]
    """Of the records that lists are filtered by, by operation."""
    records: Mapping[str, Plan]
    """By record."""
    schemas: Schemas
    """Of the revision before."""


def step_back(revision: Revision, endpoints: Iterable[Endpoint], schemas: Schemas) -> Step:
    """Compile what a revision changed; `schemas` are its own. ValueError for a change of what is
    not there."""
    if unknown := revision.changes.keys() - schemas.keys():
        raise ValueError(f"revision {revision.date} changes {sorted(unknown)}: no such records")
    plans = {name: _plan(name, schemas, revision.changes) for name in schemas}
    records = {name: plan for name, plan in plans.items() if plan is not None}
    bodies, answers, rows = dict[str, Plan](), dict[str, Plan](), dict[str, Plan]()
    for endpoint in endpoints:
        row = row_of(endpoint.returns)
        if endpoint.body is not None and (plan := records.get(endpoint.body.__name__)):
            bodies[endpoint.name] = plan
        if row is not None and (plan := records.get(row.__name__)):
            rows[endpoint.name] = plan
            is_page = isinstance(endpoint.returns, Page)
            answers[endpoint.name] = Plan((), {"data": plan}) if is_page else plan
    return Step(bodies, answers, rows, records, _former(revision, schemas, records))


def _plan(name: str, schemas: Schemas, changes: Changes) -> Plan | None:
    return plan_of({"$ref": f"#/components/schemas/{name}"}, schemas, changes)


def _former(revision: Revision, schemas: Schemas, records: Mapping[str, Plan]) -> Schemas:
    """The schemas of the revision before, with its examples."""
    former = deepcopy(schemas)
    for name, plan in records.items():
        plan.down(former[name].get("examples"))
    for name, changes in revision.changes.items():
        for change in reversed(changes):
            try:
                change.describe(former[name], former)
            except KeyError as error:
                raise ValueError(f"revision {revision.date}: {name} has no {error}") from None
    return former
