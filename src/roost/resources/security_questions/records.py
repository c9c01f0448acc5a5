"""Records of security questions (reference: Profile)."""

from typing_extensions import TypedDict


class Question(TypedDict):
    """`response` is the user's own answer; null without one."""

    id: int
    """The number of the question."""
    question: str
    """Its words."""
    response: str | None
    """Your answer; null when you gave none."""


class QuestionsRow(TypedDict):
    """All security questions."""

    security_questions: list[Question]
    """In the order of their numbers."""


class Answer(TypedDict):
    """What you answered to one question."""

    question_id: int
    """The number of the question."""
    response: str
    """Your answer."""
    security_question: str
    """The question's words."""


class AnswersRow(TypedDict):
    """The three answers."""

    security_questions: list[Answer]
    """In the order sent."""
