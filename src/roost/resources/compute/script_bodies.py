"""How bodies name a StackScript, and answer what it asks (spec B compute create)."""

from collections.abc import Collection, Mapping
from typing import Annotated

import orjson
from pydantic import AfterValidator, Field, ValidationInfo

from roost.core.context import Context
from roost.ids import MAX_ID
from roost.resources.compute.neighbours import InstanceStackScripts, Question, StackScript
from roost.resources.compute.references import image_named
from roost.web.checks import Refers, catalog_of, referred
from roost.web.fields import Between, Length, refuse

MAX_DATA = 65535
"""Characters of JSON (reference: Compute instance create)."""
MAX_ANSWERS = 256


class _StackScript:
    """A public one, or one of the account."""

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, StackScript]:
        return await context.get(InstanceStackScripts).find(context, ids)


_STACKSCRIPT = _StackScript()


def _check_id(stackscript_id: int, info: ValidationInfo) -> int:
    """It needs a public image that runs scripts, among those that it is made for."""
    if info.data.get("backup_id") is not None:
        raise refuse("stackscript_id cannot be given with backup_id")
    if "image" not in info.data:
        return stackscript_id
    image_id = info.data["image"]
    if image_id is None:
        raise refuse("stackscript_id needs an image")
    image, script = image_named(info, image_id), referred(info, _STACKSCRIPT, stackscript_id)
    if catalog_of(info).find_image(image_id) is None:
        raise refuse("stackscript_id cannot be given with a private image")
    if image is not None and not image.takes_user_data:
        raise refuse("The image runs no StackScripts")
    if script is not None and script.images is not None and image_id not in script.images:
        raise refuse("The StackScript is not made for this image")
    return stackscript_id


def _check_data(data: dict[str, object] | None, info: ValidationInfo) -> dict[str, object] | None:
    if data is not None and len(orjson.dumps(data)) > MAX_DATA:
        raise refuse(f"Must be at most {MAX_DATA} characters of JSON")
    if "stackscript_id" not in info.data:
        return data
    stackscript_id = info.data["stackscript_id"]
    if stackscript_id is None:
        if data:
            raise refuse("stackscript_data needs a stackscript_id")
        return data
    script = referred(info, _STACKSCRIPT, stackscript_id)
    if script is not None:
        check_answers(script.questions, data or {})
    return data


StackscriptId = Annotated[int, Between(1, MAX_ID), Refers(_STACKSCRIPT), AfterValidator(_check_id)]
StackscriptData = Annotated[
    Annotated[dict[str, object], Length(0, MAX_ANSWERS)] | None,
    AfterValidator(_check_data),
    Field(validate_default=True),
]


def check_answers(questions: Collection[Question], data: Mapping[str, object]) -> None:
    """Refuses answers to what is not asked, and those that the questions do not allow."""
    names = [question.name for question in questions]
    if not data.keys() <= set(names):
        raise refuse(f"The StackScript asks for {', '.join(names) or 'nothing'}")
    for question in questions:
        reason = _answer_reason(question, data.get(question.name, question.default))
        if reason is not None:
            raise refuse(reason, question.name)


def _answer_reason(question: Question, answer: object) -> str | None:
    """Why the question does not allow the answer; None when it does."""
    if answer is None:
        return f"{question.name} is required"
    if not isinstance(answer, str):
        return "Must be a string"
    if question.one_of is not None and answer not in question.one_of:
        return f"Must be one of {', '.join(question.one_of)}"
    chosen = set(answer.split(",")) if answer else set()
    if question.many_of is not None and not chosen <= set(question.many_of):
        return f"Must be some of {', '.join(question.many_of)}"
    return None
