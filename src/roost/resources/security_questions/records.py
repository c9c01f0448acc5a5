"""Records of security questions (reference: Profile)."""

from typing_extensions import TypedDict


class Question(TypedDict):
    """`response` is the user's own answer; null without one."""

    id: int
    question: str
    response: str | None


class QuestionsRow(TypedDict):
    security_questions: list[Question]


class Answer(TypedDict):
    question_id: int
    response: str
    security_question: str


class AnswersRow(TypedDict):
    security_questions: list[Answer]
