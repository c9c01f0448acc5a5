"""Where in a body, or an answer, the records stand that a revision changed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from roost.web.revisions.changes import Change
from roost.web.revisions.fields import COMPONENT, MISSING, Record, Schemas, get, put
from roost.web.translation import Json

Changes = Mapping[str, Sequence[Change]]
"""By the name of the record in the OpenAPI document."""

_EACH = "*"
"""All members of an object that has no names of its own."""
_INDEX = re.compile(r"\[[0-9]+\]")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is changed of a value, or of each of a list, and of what it holds."""

    changes: Sequence[Change]
    fields: Mapping[str, "Plan"]
    """By the name that the next revision has."""

    def down(self, value: Json) -> None:
        """From the next revision to the former one, in place."""
        for record in _records(value):
            for name, plan in self.fields.items():
                for held in _held(record, name):
                    plan.down(held)
            for change in reversed(self.changes):
                change.down(record)

    def up(self, value: Json) -> None:
        """The other way."""
        for record in _records(value):
            for change in self.changes:
                change.up(record)
            for name, plan in self.fields.items():
                for held in _held(record, name):
                    plan.up(held)

    def name_down(self, path: str) -> str:
        """What a field of the next revision was called; a dotted path, with indices."""
        first, _, rest = path.partition(".")
        plan = self._within(first)
        if plan is not None and rest:
            path = f"{first}.{plan.name_down(rest)}"
        for change in reversed(self.changes):
            path = change.name_down(path)
        return path

    def name_up(self, path: str) -> str | None:
        """What a field is called in the next revision; None where that has none, or the former one
        had none of the name."""
        name: str | None = path
        for change in self.changes:
            name = None if name is None else change.name_up(name)
        if name is None:
            return None
        first, _, rest = name.partition(".")
        plan = self._within(first)
        if plan is None or not rest:
            return name
        within = plan.name_up(rest)
        return None if within is None else f"{first}.{within}"

    def value_up(self, path: str, newer: str, value: Json) -> Json:
        """What a field is compared with, in the words of the next revision."""
        record: Record = {}
        put(record, path, value)
        self.up(record)
        found = get(record, newer)
        return value if found is MISSING else found

    def _within(self, name: str) -> "Plan | None":
        return self.fields.get(_INDEX.sub("", name)) or self.fields.get(_EACH)


def _records(value: Json) -> Sequence[Record]:
    if isinstance(value, dict):
        return (value,)
    if not isinstance(value, list):
        return ()
    return [record for each in value for record in _records(each)]


def _held(record: Record, name: str) -> Sequence[Json]:
    if name == _EACH:
        return list(record.values())
    return [record[name]] if name in record else []


def plan_of(schema: Json, schemas: Schemas, changes: Changes) -> Plan | None:
    """By a schema of the next revision; None where nothing of it has changed."""
    if not isinstance(schema, dict):
        return None
    named = schema.get("$ref", schema.get(COMPONENT))
    if isinstance(named, str):
        name = named.rpartition("/")[2]
        inner = _structure(schemas[name] if "$ref" in schema else schema, schemas, changes)
        own = changes.get(name, ())
        return Plan(own, inner) if own or inner else None
    if "items" in schema:
        return plan_of(schema["items"], schemas, changes)
    if isinstance(options := schema.get("anyOf"), list):
        plans = [plan for each in options if (plan := plan_of(each, schemas, changes)) is not None]
        if len(plans) > 1:
            raise ValueError("of several records that a field may hold, only one can be changed")
        return plans[0] if plans else None
    fields = _structure(schema, schemas, changes)
    return Plan((), fields) if fields else None


def _structure(schema: Record, schemas: Schemas, changes: Changes) -> Mapping[str, Plan]:
    held = schema.get("properties")
    parts = dict(held) if isinstance(held, dict) else {}
    if isinstance(more := schema.get("additionalProperties"), dict):
        parts[_EACH] = more
    found = {name: plan_of(each, schemas, changes) for name, each in parts.items()}
    return {name: plan for name, plan in found.items() if plan is not None}
