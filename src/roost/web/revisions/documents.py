"""The OpenAPI documents of revisions."""

import re
from collections.abc import Mapping, Sequence

import orjson

from roost.web.openapi import build_document
from roost.web.revisions.fields import COMPONENT, Record
from roost.web.revisions.plans import Plan
from roost.web.revisions.revision import Revision, Step
from roost.web.revisions.revisions import Revisions
from roost.web.translation import Json

_ROW = re.compile(r"(?m)^\| `([^`]+)` \|.*\n?")
_UNORDERED = re.compile(r"(?<=of these fields but )`.*?`(?=, `\+order`)")
_NAMED = re.compile(r"`([^`]+)`")


def build_document_of(revisions: Revisions, date: str) -> bytes:
    """JSON; for a former revision it takes about a second."""
    document = orjson.loads(build_document(revisions.registry))
    info = document["info"]
    info["x-revision"] = date
    info["x-revisions"] = [_about(each) for each in revisions.released]
    if date == revisions.newest:
        return orjson.dumps(document)
    steps, schemas = revisions.steps(date)
    document["components"]["schemas"] = _unmarked(schemas)  # type: ignore[arg-type]
    for path in document["paths"].values():
        for operation in path.values():
            _describe_filter(operation, steps)
    return orjson.dumps(document)


def _about(revision: Revision) -> Record:
    return {"revision": revision.date, "description": revision.text}


def _unmarked(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_unmarked(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _unmarked(each) for key, each in schema.items() if key != COMPONENT}


def _describe_filter(operation: Record, steps: Sequence[Step]) -> None:
    """With the names that fields had."""
    plans = [p for step in reversed(steps) if (p := step.rows.get(str(operation["operationId"])))]
    parameters = operation["parameters"]
    assert isinstance(parameters, list)
    for parameter in parameters:
        assert isinstance(parameter, dict)
        names = parameter.get("x-filterable")
        if plans and isinstance(names, list):
            former = {str(each): _former(plans, str(each)) for each in names}
            parameter["x-filterable"] = [each for each in former.values() if each is not None]
            parameter["description"] = _renamed(str(parameter["description"]), former)


def _former(plans: Sequence[Plan], name: str) -> str | None:
    """What a field was called; None for one that the former revision can't filter by."""
    for plan in plans:
        older = plan.name_down(name)
        if plan.name_up(older) != name:
            return None
        name = older
    return name


def _renamed(text: str, former: Mapping[str, str | None]) -> str:
    """The table of fields, and those by which rows can't be ordered."""
    head, _, rest = text.partition("| field |")

    def row(found: re.Match[str]) -> str:
        name = former.get(found[1], found[1])
        return "" if name is None else found[0].replace(f"`{found[1]}`", f"`{name}`", 1)

    def unordered(found: re.Match[str]) -> str:
        return _NAMED.sub(lambda name: f"`{former.get(name[1]) or name[1]}`", found[0])

    return f"{head}| field |{_UNORDERED.sub(unordered, _ROW.sub(row, rest))}"
