"""Records of security questions (reference: Profile)."""

from typing_extensions import TypedDict

from roost.core.formats import example


class Question(TypedDict):
    """`response` is the user's own answer; null without one."""

    id: int
    """The number of the question."""
    question: str
    """Its words."""
    response: str | None
    """Your answer; null when you gave none."""


@example(
    {
        "security_questions": [
            {"id": 1, "question": "In what city were you born?", "response": "Gotham"}
        ]
    },
)
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


@example(
    {
        "security_questions": [
            {
                "question_id": 1,
                "response": "Gotham",
                "security_question": "In what city were you born?",
            }
        ]
    },
)
class AnswersRow(TypedDict):
    """The three answers."""

    security_questions: list[Answer]
    """In the order sent."""
