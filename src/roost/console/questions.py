"""What a StackScript asks, as fields of the form that deploys it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from roost.console.api import Json
from roost.console.forms import Field, Option
from roost.console.schemas import text_of
from roost.console.visit import Visit

_SCRIPT, _ANSWERS = "stackscript_id", "stackscript_data"


async def with_questions(
    visit: Visit, fields: Iterable[Field], values: Mapping[str, str]
) -> list[Field]:
    """The fields, with the script's own in place of JSON where one is chosen."""
    fields, number = list(fields), values.get(_SCRIPT, "")
    if not number.isdecimal() or all(each.name != _ANSWERS for each in fields):
        return fields
    view = visit.operations.by_name["view_stackscript"]
    asked = (await visit.api.call(view, {"stackscriptId": number})).record
    questions = asked.get("user_defined_fields")
    if not isinstance(questions, list) or not questions:
        return fields
    inner = [_field(each) for each in questions if isinstance(each, dict)]
    return [_asking(each, inner) if each.name == _ANSWERS else each for each in fields]


def _asking(answers: Field, inner: Sequence[Field]) -> Field:
    return replace(answers, kind="group", required=True, fields=inner)


def _field(question: Json) -> Field:
    name, default = text_of(question.get("name")), question.get("default")
    one, many = text_of(question.get("oneOf")), text_of(question.get("manyOf"))
    options = [Option(each, each) for each in (one or many).split(",") if each]
    is_secret = "password" in name.lower()
    text = text_of(question.get("label"))
    if example := text_of(question.get("example")):
        text = f"{text} Such as `{example}`."
    return Field(
        name=f"{_ANSWERS}.{name}",
        kind="choice" if one else "secret" if is_secret else "text",
        text=text if not many else f"{text} Some of {many}, with commas.",
        required=default is None,
        type="string",
        default=default,
        options=options if one else (),
    )
