"""Request bodies of security questions (reference: Profile)."""

from typing import Annotated

from pydantic import ConfigDict, field_validator
from pydantic.config import JsonDict

from roost.resources.security_questions.rules import ANSWERED, QUESTIONS
from roost.web.bodies import Body
from roost.web.fields import Length, refuse

_EXAMPLE: JsonDict = {
    "security_questions": [
        {"question_id": 1, "response": "Gotham"},
        {"question_id": 2, "response": "Rex the cat"},
        {"question_id": 3, "response": "Hill Side"},
    ]
}


class AnswerQuestion(Body):
    """The answer to one question."""

    question_id: int
    """The number of the question."""
    response: Annotated[str, Length(3, 17)]
    """Your answer."""

    @field_validator("question_id")
    @classmethod
    def _check_question(cls, value: int) -> int:
        if value not in QUESTIONS:
            raise refuse("question_id is not valid")
        return value


class AnswerQuestions(Body):
    """POST /profile/security-questions: three answers, which replace those that were given."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    security_questions: Annotated[list[AnswerQuestion], Length(ANSWERED, ANSWERED)]
    """Answers to three questions."""

    @field_validator("security_questions")
    @classmethod
    def _check_distinct(cls, value: list[AnswerQuestion]) -> list[AnswerQuestion]:
        if len({each.question_id for each in value}) < len(value):
            raise refuse("Each question can be answered once")
        return value
